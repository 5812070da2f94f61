#!/usr/bin/env bash
# Starts a Kubernetes cluster of one node on this machine, and waits until it takes pods. Does nothing if it runs already.
# The first time it builds for some minutes. With GATEHOUSE_CLUSTER_OWNER=PID, the cluster ends with that process.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

main() {
  reason=$(no_node_reason)
  [ -z "$reason" ] || die "$reason"
  install_packages
  "$here/build.sh" >/dev/null
  [ -n "$(node_pid)" ] || start_node
  wait_until_ready
  say "the cluster $name runs: $here/exec.sh kubectl get nodes"
}

start_node() {
  "$here/down.sh"
  mkdir -p "$state/logs"
  setsid unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private \
    bash "$here/node.sh" >"$state/logs/node.log" 2>&1 </dev/null &
  outer=$!
  until inner=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null) && [ -n "$inner" ]; do
    [ -e "/proc/$outer" ] || die "no namespaces: $(cat "$state/logs/node.log")"
    sleep 0.05
  done
  echo "${inner% } $(beginning_of "${inner% }")" >"$state/node.pid"
  [ -z "${GATEHOUSE_CLUSTER_OWNER:-}" ] || end_with "$GATEHOUSE_CLUSTER_OWNER"
}

# end_with PID: a process that is killed cannot remove its cluster. What it began may write a file once more. The name may
# be that of another cluster by then.
end_with() {
  # shellcheck disable=SC2016 # they are the arguments of the other shell
  setsid bash -c '
    tail --pid="$1" --follow /dev/null
    for pause in 0 60; do
      sleep "$pause"
      [ "$(cat "$3" 2>/dev/null || echo "$4")" != "$4" ] || "$2/down.sh"
    done
  ' - "$1" "$here" "$state/node.pid" "$(cat "$state/node.pid")" </dev/null >/dev/null 2>&1 &
}

wait_until_ready() {
  for _ in $(seq 600); do
    [ -n "$(node_pid)" ] || die "the node ended: $(tail -n 1 "$state/logs/node.log")"
    if [ -e "$kubeconfig" ] && in_node kubectl --kubeconfig "$kubeconfig" wait --for condition=Ready \
      --timeout 60s "node/$name" >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  die "the node is not ready after five minutes: see $state/logs"
}

main
