#!/bin/bash
# Installs the packages of Debian 12 and Ubuntu 24.04 that a purpose needs, and only those that are missing.
# The one place where package names stand.
#
#   scripts/install-packages.sh PURPOSE...   build, test, lint, bench, fuzz, static
#   scripts/install-packages.sh --list       prints them all with their reason
#
# DEEPGAP_SKIP_PACKAGES=1 installs nothing: for other distributions, and for those who install by hand.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# distribution (* is both) | purpose | package | why
packages='
* | build | g++                 | the compiler (12 or later)
* | build | cmake               | configures the build (3.25 or later)
* | build | ninja-build         | runs the build
* | build | make                | the commands of the README
* | build | ccache              | makes every later build quick
* | build | libcli11-dev        | command line
* | build | libfmt-dev          | text formatting
* | build | nlohmann-json3-dev  | small JSON
* | build | libsqlite3-dev      | the store
* | build | zlib1g-dev          | gzip-compressed traces
* | build | libzstd-dev         | zstd-compressed traces
* | build | libxxhash-dev       | hashes of models and inputs
* | build | libtomlplusplus-dev | the device and price catalogues
* | build | libboost-dev        | t, beta and binomial distributions (Boost.Math, headers only)
* | build | libprotobuf-dev     | under the ONNX library
* | build | protobuf-compiler   | builds the ONNX library
* | build | libprotozero-dev    | reads ONNX in the workers
* | build | python3             | runs pip
* | build | python3-pip         | fetches ONNX, OpenVINO and, where too old, CMake
* | test  | libgtest-dev        | unit tests
* | test  | libgmock-dev        | unit tests
* | bench | libbenchmark-dev    | times small functions
* | lint  | clang-format-14     | format; other versions format differently
* | lint  | shellcheck          | lints the scripts
debian | lint | clang-tidy-14   | lints the C++
ubuntu | lint | clang-tidy      | lints the C++ (14 cannot read the headers of g++ 13)
* | fuzz  | clang               | fuzzing needs its compiler
debian | fuzz | libclang-rt-14-dev | libFuzzer and the sanitizers of clang
ubuntu | fuzz | libclang-rt-18-dev | likewise
'
purposes='build test lint bench fuzz static'

distribution=unknown
pretty='this system'
if [ -r /etc/os-release ]; then
  distribution=$(. /etc/os-release && echo "${ID:-unknown}")
  pretty=$(. /etc/os-release && echo "${PRETTY_NAME:-this system}")
fi

# rows PURPOSE...: "package|why" of those purposes here.
rows() {
  local purpose row_distribution row_purpose package why
  for purpose in "$@"; do
    # The archives for a static build come with the same packages as the shared libraries.
    [ "$purpose" = static ] && purpose=build
    while read -r row_distribution _ row_purpose _ package _ why; do
      if [ "$row_purpose" = "$purpose" ] && [[ $row_distribution == '*' || $row_distribution == "$distribution" ]]; then
        echo "$package|$why"
      fi
    done <<<"$packages"
  done
}

case "${1:-}" in
  --list)
    echo "$packages" | sed '/^$/d'
    exit 0
    ;;
  "") fail "expected purposes among: $purposes; usage: scripts/install-packages.sh PURPOSE... | --list" ;;
esac
for purpose in "$@"; do
  case " $purposes " in
    *" $purpose "*) ;;
    *) fail "unknown purpose '$purpose'; expected some of: $purposes" ;;
  esac
done

if [ "${DEEPGAP_SKIP_PACKAGES:-}" = 1 ]; then
  say "packages: none looked for, since DEEPGAP_SKIP_PACKAGES=1"
  exit 0
fi
if [ "$distribution" != debian ] && [ "$distribution" != ubuntu ]; then
  say "deepgap needs these packages (names as in Debian):"
  distribution=debian
  rows "$@" | sort -u | sed 's/|/: /; s/^/  /' >&2
  fail "$pretty is neither Debian 12 nor Ubuntu 24.04, so their names here are not known; install them by hand," \
    "then set DEEPGAP_SKIP_PACKAGES=1"
fi

wanted=$(rows "$@" | sort -u)
installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii *//p' | sort -u)
missing=$(join -t '|' -v 1 <(echo "$wanted" | sort -t '|' -k 1,1) <(echo "$installed" | sort))
if [ -z "$missing" ]; then
  say "packages: all $(echo "$wanted" | wc -l) for '$*' are there"
  exit 0
fi

say "packages to install for '$*', of $pretty:"
echo "$missing" | while IFS='|' read -r package why; do printf '  %-20s %s\n' "$package" "$why"; done >&2

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null ||
    fail "installing packages needs root and there is no sudo: as root, run: apt-get install $(echo "$missing" | cut -d '|' -f 1 | tr '\n' ' ')"
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1 </dev/null; }
mapfile -t names < <(echo "$missing" | cut -d '|' -f 1)
if ! { apt update && apt install --no-install-recommends "${names[@]}"; }; then
  tail -n 20 "$log" >&2
  fail "the packages could not be installed: the lines above are apt-get's; install them by hand or mend the package sources"
fi
say "packages: installed ${#names[@]}"
