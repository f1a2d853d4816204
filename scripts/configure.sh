#!/bin/bash
# Configures a build folder: for the first time, or again where an option asked for is not yet as asked.
#
#   scripts/configure.sh PRESET [OPTION=VALUE...]     e.g. scripts/configure.sh release DEEPGAP_TESTS=ON
#
# Options that an earlier call turned on stay on, so that `make demo` after `make test` does not throw its work away.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=$1
shift
cd "$scripts_folder/.."
folder="build/$preset"
[ "$preset" = release ] || [ $# -eq 0 ] || fail "options go with the preset release; '$preset' has its own in CMakePresets.json"

stale=
[ -e "$folder/build.ninja" ] || stale=1
definitions=()
for option in "$@"; do
  definitions+=("-D$option")
  grep -q "^${option%%=*}:[A-Z]*=${option#*=}$" "$folder/CMakeCache.txt" 2>/dev/null || stale=1
done
# A worker that was left out because its engine was absent is built once the engine is there.
openvino=$(scripts/fetch-openvino.sh --where)
if [ -d "$openvino" ] && ! grep -q "^OpenVINO_DIR:PATH=$openvino/" "$folder/CMakeCache.txt" 2>/dev/null; then
  stale=1
fi
[ -n "$stale" ] || exit 0
mkdir -p "$folder"
log="$folder/configure.log"
: >"$log"
run_logged "$log" "configuring" cmake --preset "$preset" "${definitions[@]}"
# What was left out is said aloud.
grep -A 3 '^CMake Warning' "$log" >&2 || true
