#!/usr/bin/env bash
# Installs fastmcp, an MCP client in Python, for the tests, and prints the Python that has it. Takes it from
# PyPI once, and keeps it in $XDG_CACHE_HOME (or ~/.cache).
#
# Where that cannot be done it says so and succeeds; the tests that need it are then skipped.
set -euo pipefail

# The number behind the version counts changes of this script. The tests know the path too.
installed="${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-fastmcp/4.1.2-1"
python="$installed/bin/python"

give_up() {
  echo "no fastmcp for the tests: $1" >&2
  exit 0
}

if [ -x "$python" ]; then
  echo "$python"
  exit 0
fi
command -v python3 >/dev/null || give_up 'there is no python3'
python3 -c 'import ensurepip, venv' 2>/dev/null || give_up 'python3 has no venv with pip'

mkdir -p "${installed%/*}"
# On the file system of its place: somebody else may be looking, so it is moved there whole.
work=$(mktemp -d "${installed%/*}/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
echo 'installing fastmcp from PyPI: about half a minute, once' >&2
python3 -m venv "$work/venv" >&2 || give_up 'python3 cannot make a venv'
# Wheels only: nothing of what is installed runs before the tests do.
timeout 300 "$work/venv/bin/python" -m pip --quiet --no-input --disable-pip-version-check \
  install --only-binary :all: fastmcp==4.1.2 mcp==2.3.0 >&2 || give_up 'PyPI did not give it'
# Somebody else may have been faster.
mv -T "$work/venv" "$installed" 2>/dev/null || [ -x "$python" ]
echo "$python"
