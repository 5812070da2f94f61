#!/usr/bin/env bash
# Has a real kube-apiserver and etcd for the tests, and prints the directory they are in. Where neither
# KUBEBUILDER_ASSETS nor envtest's usual directory has them, builds Kubernetes 1.20.2 from Debian's
# source package, with Debian's Go: needs Debian 12 and root, and takes three to four minutes, once.
# What it builds is kept in $XDG_CACHE_HOME (or ~/.cache). It is too old for rules in CEL.
#
# Where that cannot be done it says so and succeeds, unless REQUIRE_CLUSTER names envtest.
set -euo pipefail

# The number behind the version counts changes of this script. The tests know the path too.
built="${XDG_CACHE_HOME:-$HOME/.cache}/gatehouse-envtest/1.20.2-2"

has_both() { [ -x "$1/kube-apiserver" ] && [ -x "$1/etcd" ]; }

# The order in which the tests look, too.
if [ -x "${TEST_ASSET_KUBE_APISERVER:-}" ] && [ -x "${TEST_ASSET_ETCD:-}" ]; then
  dirname "$TEST_ASSET_KUBE_APISERVER"
  exit 0
fi
for assets in "${KUBEBUILDER_ASSETS:-}" /usr/local/kubebuilder/bin "$built"; do
  if [ -n "$assets" ] && has_both "$assets"; then
    echo "$assets"
    exit 0
  fi
done

give_up() {
  echo "no kube-apiserver for the tests: set KUBEBUILDER_ASSETS, or $1" >&2
  case ",${REQUIRE_CLUSTER:-}," in
    *,envtest,*) exit 1 ;;
    *) exit 0 ;;
  esac
}
codename=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}") || true
[ "$codename" = bookworm ] || give_up 'build one on Debian 12'
[ "$(id -u)" -eq 0 ] || give_up "run $0 as root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
  echo 'building kube-apiserver from source: three to four minutes, once'
  install_packages
  fetch_source
  cd "$work/gopath/src/k8s.io/kubernetes"
  use_debian_go
  replace_reflect2
  tell_empty_strings_from_null
  generate_openapi
  build
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  # etcd-server brings a service, which must not start.
  export RUNLEVEL=1
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends golang-1.19-go golang-1.19-src \
    golang-github-modern-go-reflect2-dev etcd-server dpkg-dev xz-utils >/dev/null
}

# Takes the machine's own Debian sources once more, as sources of source packages, in lists of their
# own: the machine's settings stay as they are.
fetch_source() {
  mkdir -p "$work/apt/lists/partial" "$work/apt/sources.d" "$work/gopath/src/k8s.io"
  if [ -f /etc/apt/sources.list.d/debian.sources ]; then
    sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources \
      >"$work/apt/sources.d/debian.sources"
  else
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$work/apt/sources.d/debian.list"
  fi
  local options=(
    -o APT::Sandbox::User=root
    -o Dir::Etc::sourcelist=/dev/null
    -o "Dir::Etc::sourceparts=$work/apt/sources.d"
    -o "Dir::State::lists=$work/apt/lists"
  )
  apt-get "${options[@]}" update -qq
  (cd "$work" && apt-get "${options[@]}" source -qq kubernetes)
  mv "$work"/kubernetes-1.20* "$work/gopath/src/k8s.io/kubernetes"
}

# Whatever other Go there is, with its settings, stays out of this.
use_debian_go() {
  unset GOROOT GOFLAGS
  export PATH="/usr/lib/go-1.19/bin:$PATH"
  export GOENV=off GO111MODULE=off GOPATH="$work/gopath" GOCACHE="$work/cache" CGO_ENABLED=0
}

# The copy that comes with the source crashes under Go 1.18 and newer; Debian's own does not.
replace_reflect2() {
  rm -rf vendor/github.com/modern-go/reflect2
  cp -r /usr/share/gocode/src/github.com/modern-go/reflect2 vendor/github.com/modern-go/reflect2
}

# Under Go of today a comparison in the schema validator also finds the empty string equal to null, and
# refuses it. Under the Go of its time it did not.
tell_empty_strings_from_null() {
  local file=vendor/k8s.io/kube-openapi/pkg/validation/validate/type.go
  local zero='reflect.DeepEqual(reflect.Zero(reflect.TypeOf(data)), reflect.ValueOf(data))'
  grep -qF "data == nil || $zero" "$file"
  sed -i "s/data == nil || reflect\.DeepEqual(.*) {/data == nil {/" "$file"
}

# Definitions that an upstream build generates, and that the source lacks.
generate_openapi() {
  go build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  local packages
  packages=$(
    grep -rlE '^// \+k8s:openapi-gen=' --include='*.go' staging/src/k8s.io/*/ pkg/ vendor/k8s.io/ |
      xargs -n1 dirname |
      sed -e 's#^staging/src/##' -e 's#^vendor/##' -e 's#^pkg/#k8s.io/kubernetes/pkg/#' |
      sort -u | grep -vE 'testdata|code-generator|sample|/test' | paste -sd, -
  )
  "$work/openapi-gen" --go-header-file hack/boilerplate/boilerplate.generatego.txt \
    -O zz_generated.openapi -p k8s.io/kubernetes/pkg/generated/openapi -i "$packages" \
    -r "$work/violations" --output-base "$work/generated"
  cp "$work/generated/k8s.io/kubernetes/pkg/generated/openapi/zz_generated.openapi.go" \
    pkg/generated/openapi/
}

build() {
  local flags='-s -w' package
  # `--version` reads the one, `/version` the other.
  for package in component-base/version client-go/pkg/version; do
    package="k8s.io/kubernetes/vendor/k8s.io/$package"
    flags+=" -X $package.gitVersion=v1.20.2 -X $package.gitMajor=1 -X $package.gitMinor=20"
  done
  go build -ldflags "$flags" -o "$work/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
  mkdir -p "$built"
  # Moved into place whole: somebody else may be looking.
  local program
  for program in "$(command -v etcd)" "$work/kube-apiserver"; do
    cp "$program" "$built/.new"
    mv "$built/.new" "$built/${program##*/}"
  done
}

main >&2
echo "$built"
