#!/usr/bin/env bash
# Has what the tests need of Kubernetes: API servers, and where a node can run, its packages. What
# cannot be had is named, and is no failure unless REQUIRE_CLUSTER names its kind.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

main() {
  if [ -z "$(no_build_reason)" ]; then
    "$here/build.sh" >/dev/null
  elif ! has_api_server "${KUBEBUILDER_ASSETS:-}" && ! has_api_server /usr/local/kubebuilder/bin; then
    give_up envtest "set KUBEBUILDER_ASSETS, or: $(no_build_reason)"
  fi
  reason=$(no_node_reason)
  if [ -n "$reason" ]; then give_up node "$reason"; else install_packages; fi
}

has_api_server() { [ -x "$1/kube-apiserver" ] && [ -x "$1/etcd" ]; }

main
