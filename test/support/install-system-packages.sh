#!/bin/sh
# Installs the Debian packages that the tests use, where they are missing: a browser for the pages,
# OpenSSL to make certificates, curl as a client, Redis, a C compiler for the clock that tests move
# Redis's time by, Python with pip for an MCP client, Prometheus for its check of metrics and alerts,
# and for the image, elfutils to build it, runc to run it, and an emulator of the other architecture.
set -eu

missing=''
command -v chromium >/dev/null || missing="$missing chromium"
command -v curl >/dev/null || missing="$missing curl"
command -v openssl >/dev/null || missing="$missing openssl"
command -v redis-server >/dev/null || missing="$missing redis-server"
command -v cc >/dev/null || missing="$missing gcc libc6-dev"
command -v promtool >/dev/null || missing="$missing prometheus"
command -v eu-strip >/dev/null || missing="$missing elfutils"
case "$(uname -m)" in
x86_64) command -v qemu-aarch64-static >/dev/null || missing="$missing qemu-user-static" ;;
aarch64) command -v qemu-x86_64-static >/dev/null || missing="$missing qemu-user-static" ;;
esac
command -v runc >/dev/null || missing="$missing runc"
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "install these packages to run all tests:$missing" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# Tests start servers of their own; a package that brings a service must not start it.
export RUNLEVEL=1
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq --no-install-recommends $missing >/dev/null
