#!/usr/bin/env bash
# Has what the tests need of Kubernetes: API servers, and where a node can run, its packages. What
# cannot be had is named, and is no failure unless REQUIRE_CLUSTER names its kind.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ -n "$(no_build_reason)" ] || "$here/build.sh" >/dev/null
can_have envtest || true
if can_have node; then install_packages; fi
