#!/usr/bin/env bash
# Builds Kubernetes, etcd and CoreDNS, which are ordinary Go modules, once, and prints the directory they are in. With
# kube-apiserver, etcd and kubectl it serves as KUBEBUILDER_ASSETS. Needs Go 1.25 or newer, and npm.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

programs=(etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet)

main() {
  mkdir -p "$bin"
  # Whoever comes second waits, and finds everything built.
  exec 9>"$cache/.lock"
  flock 9
  if [ ! -x "$bin/kubelet" ]; then
    reason=$(no_build_reason)
    [ -z "$reason" ] || die "$reason"
    say "building Kubernetes $version: 4 to 7 minutes on two idle cores, once"
    build
  fi
  link_clients
  echo "$bin"
}

link_clients() {
  clients=$(bash "$here/../install-helm.sh")
  [ -z "$clients" ] || ln -sf "$clients/kubectl" "$clients/helm" "$bin"
}

build() (
  cd "$here"
  IFS=. read -r major minor _ <<<"${version#v}"
  stamp=
  # A server without a version would refuse clients that ask for one.
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamp+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  done
  CGO_ENABLED=0 GOTOOLCHAIN=local nice go build -trimpath -ldflags "-s -w$stamp" -o "$bin/" \
    ./hyperkube ./coredns ./pause >&2
  # The last link says that all is built.
  for program in "${programs[@]}"; do ln -sf hyperkube "$bin/$program"; done
)

main
