# Sourced by the scripts beside it: where things are, the addresses of the cluster, and why it may be impossible here.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The release of Kubernetes that go.mod requires.
version=$(awk '$1 == "k8s.io/kubernetes" { print $2 }' "$here/go.mod")
# The number behind the version counts changes of what is built. The tests know the path too.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-cluster/$version-1"
bin="$cache/bin"

# Several clusters can run at once: they share only $bin.
name="${GATEHOUSE_CLUSTER:-gatehouse}"
state="$cache/clusters/$name"
kubeconfig="$state/kubeconfig"
cgroup="/gatehouse-cluster-$name"

# The network of the cluster has no way out, so these addresses conflict with no others. The rest of 10.243.0.0/24 is
# free for the addresses of load balancers.
node_ip=10.243.0.1
pod_cidr=10.244.0.0/24
service_cidr=10.96.0.0/16
api_ip=10.96.0.1
dns_ip=10.96.0.10
domain=cluster.local

pause_image=gatehouse.test/pause:1

# Debian's packages that a node consists of, and that the scripts use.
packages=(
  containerd runc containernetworking-plugins # pods
  iproute2 iptables nftables conntrack        # their network
  openssl curl jq busybox-static              # these scripts
)

export PATH="$bin:$PATH"

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$(basename "$0"): $*"
  exit 1
}

# Prints why Kubernetes cannot be built here; nothing if it can.
no_build_reason() {
  if [ "$(uname -s)" != Linux ]; then
    echo 'it runs on Linux'
  elif ! command -v go >/dev/null; then
    echo 'Go 1.25 or newer is needed'
  elif ! (cd "$here" && GOTOOLCHAIN=local go list -m >/dev/null 2>&1); then
    echo "Go 1.25 or newer is needed, and this is $(go env GOVERSION 2>/dev/null || go version)"
  fi
}

# Prints why this machine can have no API servers for the tests; nothing if it can.
no_envtest_reason() {
  local reason
  reason=$(no_build_reason)
  if [ -n "$reason" ] && ! has_api_server "${KUBEBUILDER_ASSETS:-}" && ! has_api_server /usr/local/kubebuilder/bin; then
    echo "set KUBEBUILDER_ASSETS, or: $reason"
  fi
}

has_api_server() { [ -x "$1/kube-apiserver" ] && [ -x "$1/etcd" ]; }

# Prints why a node cannot run here; nothing if it can.
no_node_reason() {
  local reason codename
  reason=$(no_build_reason)
  codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}") || true
  if [ -n "$reason" ]; then
    echo "$reason"
  elif [ "$codename" != bookworm ] || [ "$(dpkg --print-architecture)" != amd64 ]; then
    echo 'Debian 12 on amd64 is needed'
  elif [ "$(id -u)" != 0 ]; then
    echo 'root is needed'
  elif ! unshare --mount --net --pid --fork true 2>/dev/null; then
    echo 'root may not make namespaces here'
  fi
}

# can_have KIND: succeeds if this machine can have clusters of this kind, `envtest` or `node`. If not, it says why, and
# that is the end if REQUIRE_CLUSTER names the kind.
can_have() {
  local reason
  reason=$("no_$1_reason")
  [ -n "$reason" ] || return 0
  case ",${REQUIRE_CLUSTER:-}," in
    *",$1,"*) die "no cluster of kind $1: $reason" ;;
    *) say "no cluster of kind $1: $reason" ;;
  esac
  return 1
}

install_packages() {
  dpkg-query --show "${packages[@]}" >/dev/null 2>&1 && return
  apt-get -qq update
  # Without what they recommend. A package that brings a service must not start it.
  DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq install --no-install-recommends -y "${packages[@]}" >&2
}

# Prints when a process began: its number may be given to another process later.
beginning_of() { cut -d' ' -f22 "/proc/$1/stat" 2>/dev/null; }

# Prints the process that everything of the cluster runs under; nothing if the cluster does not run.
node_pid() {
  local pid beginning
  read -r pid beginning 2>/dev/null <"$state/node.pid" || return 0
  if [ "$(beginning_of "$pid")" = "$beginning" ]; then echo "$pid"; fi
}

# Prints where the hierarchies of cgroups are: each of version 1, or the one of version 2.
cgroup_mounts() { awk '$3 ~ /^cgroup/ { print $2 }' /proc/self/mounts; }

# Runs a command in the network, the mounts and the processes of the node.
in_node() {
  local pid
  pid=$(node_pid)
  [ -n "$pid" ] || die "the cluster $name does not run: up.sh starts it"
  nsenter --target "$pid" --net --mount --pid --wdns="$PWD" -- "$@"
}
