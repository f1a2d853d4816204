#!/bin/bash
# Builds the ONNX project's own C++ library from its source package into the cache folder, once.
#
#   scripts/fetch-onnx.sh            builds it if it is not there (about a minute on two cores)
#   scripts/fetch-onnx.sh --where    prints the folder it is, or would be, in: include/, lib/
#
# Why not the distribution's libonnx: Debian 12 has 1.12, which stops at opset 17.
# -O1, one unity build and the lite protobuf runtime keep the build short; checking and inferring a model takes
# milliseconds either way.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=1.23.2
flags="-O1 -DNDEBUG"
recipe=1  # raise when anything below changes what is built

compiler=$(g++ -dumpmachine 2>/dev/null && g++ -dumpfullversion) ||
  fail "g++ was not found: run 'scripts/install-packages.sh build' first"
protobuf=$(protoc --version 2>/dev/null) ||
  fail "protoc was not found: run 'scripts/install-packages.sh build' first"
key=$(printf '%s\n' "$version" "$flags" "$recipe" "$compiler" "$protobuf" | sha256sum | cut -c1-12)
target="$(cache_folder)/onnx-$version-$key"

case "${1:-}" in
  --where) echo "$target"; exit 0 ;;
  "") ;;
  *) fail "unknown argument '$1'; usage: scripts/fetch-onnx.sh [--where]" ;;
esac

[ -e "$target/lib/libonnx.a" ] && exit 0
lock "onnx-$version-$key"
[ -e "$target/lib/libonnx.a" ] && exit 0

say "building ONNX $version from source into $target (once; about a minute)"
python=$(find_python)
work="$target.building"
log="$target.log"
rm -rf "$work"
mkdir -p "$work"
: >"$log"

# ONNX wants CMake 3.26; Debian 12 has 3.25.
cmake=$(command -v cmake || true)
found=$([ -n "$cmake" ] && "$cmake" --version | sed -n 's/^cmake version //p' || echo 0)
if [ "$(printf '%s\n' 3.26 "$found" | sort -V | head -n 1)" != 3.26 ]; then
  run_logged "$log" "fetching CMake (found ${found/#0/none}, ONNX needs 3.26)" \
    "$python" -m pip install --quiet --no-deps --only-binary :all: --target "$work/cmake" \
    --require-hashes -r "$scripts_folder/requirements-cmake.txt"
  cmake="$work/cmake/cmake/data/bin/cmake"
  [ -x "$cmake" ] || fail "expected $cmake in the CMake package; the whole log is $log"
fi

# pip asks the package's build back end for its metadata; a CMake in PATH keeps it from fetching one of its own.
run_logged "$log" "fetching the source of ONNX" \
  env PATH="$(dirname "$cmake"):$PATH" "$python" -m pip download --quiet --no-deps --no-binary onnx \
  --require-hashes -r "$scripts_folder/requirements-onnx.txt" -d "$work/download"
run_logged "$log" "unpacking ONNX" tar -xzf "$work/download/onnx-$version.tar.gz" -C "$work"

run_logged "$log" "configuring ONNX" "$cmake" -G Ninja -S "$work/onnx-$version" -B "$work/build" \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=$flags" -DCMAKE_CXX_STANDARD=17 \
  -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$work/install" -DCMAKE_INSTALL_LIBDIR=lib \
  -DONNX_USE_UNITY_BUILD=ON -DONNX_USE_LITE_PROTO=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=OFF -DBUILD_SHARED_LIBS=OFF \
  -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF -DONNX_GEN_PB_TYPE_STUBS=OFF -DPython3_EXECUTABLE="$python"
run_logged "$log" "building ONNX" "$cmake" --build "$work/build" --target install
cp "$work/onnx-$version/LICENSE" "$work/install/LICENSE"

# The folder appears at once and whole, so an interrupted build is never taken for a finished one.
rm -rf "$target"
mv "$work/install" "$target"
rm -rf "$work"
