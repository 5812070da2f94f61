#!/bin/sh
# Installs the Debian packages that the image is built with, where they are missing: elfutils, and for another
# architecture than this machine's an emulator. Usage: install-system-packages.sh [ARCHITECTURE]
set -eu

missing=''
command -v eu-strip >/dev/null || missing="$missing elfutils"
case "$(uname -m):${1:-}" in
x86_64:arm64) command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static" ;;
aarch64:amd64) command -v qemu-x86_64-static >/dev/null || missing="$missing qemu-user-static" ;;
esac
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "the image is built on Debian; install these packages:$missing" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
