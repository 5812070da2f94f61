#!/usr/bin/env bash
# Prints the kinds of clusters that this machine can have, as a value of REQUIRE_CLUSTER, and on stderr why it cannot have
# the others.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Which kinds are required is asked after this.
unset REQUIRE_CLUSTER
kinds=()
for kind in envtest node; do
  if can_have "$kind"; then kinds+=("$kind"); fi
done
(IFS=, && echo "${kinds[*]}")
