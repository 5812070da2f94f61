#!/bin/sh
# Installs the Debian packages that the tests use, where they are missing: a browser for the pages,
# and OpenSSL to make certificates.
set -eu

missing=''
command -v chromium >/dev/null || missing="$missing chromium"
command -v openssl >/dev/null || missing="$missing openssl"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "install these packages to run all tests:$missing" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
