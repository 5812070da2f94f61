#!/usr/bin/env bash
# Runs a command in a cluster of its own, which has the image of this checkout, and removes the cluster when the command
# ends, is interrupted or killed. Where there can be no cluster it says why, and succeeds unless REQUIRE_CLUSTER names
# `node`.
#
#   with-cluster.sh COMMAND [ARGUMENT]...
export GATEHOUSE_CLUSTER="${GATEHOUSE_CLUSTER:-run-$$}" GATEHOUSE_CLUSTER_OWNER=$$
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
root=$(cd "$here/../../.." && pwd)

main() {
  can_have node || exit 0
  trap '"$here/down.sh"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  interruptible "$here/up.sh"
  interruptible import_images
  interruptible "$here/exec.sh" "$@"
}

# A trap waits for a command in the foreground, and not for one in the background.
interruptible() {
  "$@" &
  wait $!
}

import_images() {
  node "$root/image/main.ts" --out "$state/image" >"$state/logs/image.log"
  "$here/exec.sh" ctr --namespace k8s.io images import "$state/image/gatehouse-image-amd64.tar" >/dev/null
  # Under the name that the chart has for it.
  redis=$(helm template gatehouse "$root/charts/gatehouse" | sed -nE 's/^ *image: "?([^"]*redis:[^"]*)"?$/\1/p')
  "$here/image.sh" "$redis" --busybox --program /usr/bin/redis-server:/usr/local/bin/redis-server \
    --program /usr/bin/redis-cli:/usr/local/bin/redis-cli --entrypoint '["redis-server"]'
}

main "$@"
