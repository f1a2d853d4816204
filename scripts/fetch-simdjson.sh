#!/bin/bash
# Builds simdjson into the cache folder, once, from the two files that the source package of pysimdjson carries.
#
#   scripts/fetch-simdjson.sh            builds it if it is not there (some 20 s)
#   scripts/fetch-simdjson.sh --where    prints the folder it is, or would be, in: include/, lib/
#
# Why not the distribution's: it comes as a shared library only, which the static build cannot link, and in another
# version on each.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=3.12.3
package=7.0.2  # of pysimdjson
flags="-O2 -DNDEBUG -fPIC -std=c++20"
recipe=1  # raise when anything below changes what is built

compiler=$(g++ -dumpmachine 2>/dev/null && g++ -dumpfullversion) ||
  fail "g++ was not found: run 'scripts/install-packages.sh build' first"
key=$(printf '%s\n' "$version" "$package" "$flags" "$recipe" "$compiler" | sha256sum | cut -c1-12)
target="$(cache_folder)/simdjson-$version-$key"

case "${1:-}" in
  --where) echo "$target"; exit 0 ;;
  "") ;;
  *) fail "unknown argument '$1'; usage: scripts/fetch-simdjson.sh [--where]" ;;
esac

[ -e "$target/lib/libsimdjson.a" ] && exit 0
lock "simdjson-$version-$key"
[ -e "$target/lib/libsimdjson.a" ] && exit 0

say "building simdjson $version from source into $target (once; some 20 s)"
python=$(find_python)
work="$target.building"
log="$target.log"
rm -rf "$work"
mkdir -p "$work/install/include" "$work/install/lib"
: >"$log"

run_logged "$log" "fetching the source of simdjson" \
  "$python" -m pip download --quiet --no-deps --no-binary pysimdjson \
  --require-hashes -r "$scripts_folder/requirements-simdjson.txt" -d "$work/download"
run_logged "$log" "unpacking simdjson" tar -xzf "$work/download/pysimdjson-$package.tar.gz" -C "$work"
source="$work/pysimdjson-$package/simdjson"
grep -q "^#define SIMDJSON_VERSION \"$version\"" "$source/simdjson.h" ||
  fail "expected simdjson $version in pysimdjson $package, found another; correct scripts/fetch-simdjson.sh"
cp "$source/simdjson.h" "$work/install/include/"
# shellcheck disable=SC2086
run_logged "$log" "building simdjson" g++ $flags -I "$source" -c "$source/simdjson.cpp" -o "$work/simdjson.o"
run_logged "$log" "archiving simdjson" ar rcs "$work/install/lib/libsimdjson.a" "$work/simdjson.o"

# The folder appears at once and whole, so an interrupted build is never taken for a finished one.
rm -rf "$target"
mv "$work/install" "$target"
rm -rf "$work"
