#!/usr/bin/env bash
# Prints the kinds of clusters that this machine can have, as a value of REQUIRE_CLUSTER, and on stderr why it cannot have
# the others.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

kinds=
add() {
  if [ -z "$2" ]; then
    kinds+="${kinds:+,}$1"
  else
    say "no cluster of kind $1: $2"
  fi
}
add envtest "$(no_build_reason)"
add node "$(no_node_reason)"
echo "$kinds"
