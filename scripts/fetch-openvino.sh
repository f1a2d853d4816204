#!/bin/bash
# Puts the OpenVINO package, the default engine, into the cache folder, once.
#
#   scripts/fetch-openvino.sh                    fetches it if it is not there (59 MB)
#   scripts/fetch-openvino.sh --with-benchmark   also what its Python benchmark needs (numpy), for bench/
#   scripts/fetch-openvino.sh --where            prints the folder it is, or would be, in
#   scripts/fetch-openvino.sh --python           prints how to call Python with it: env PYTHONPATH=... python3

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=2026.4.1
python=$(find_python)
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
target="$(cache_folder)/openvino-$version-$tag"
benchmark="$target-benchmark"

with_benchmark=
case "${1:-}" in
  --where) echo "$target"; exit 0 ;;
  --python) echo "env PYTHONPATH=$target:$benchmark $python"; exit 0 ;;
  --with-benchmark) with_benchmark=1 ;;
  "") ;;
  *) fail "unknown argument '$1'; usage: scripts/fetch-openvino.sh [--with-benchmark|--where|--python]" ;;
esac

# fetch FOLDER WHAT PIP-ARGUMENT...: the folder appears at once and whole.
fetch() {
  local folder=$1 what=$2
  shift 2
  [ -d "$folder" ] && return 0
  lock "$(basename "$folder")"
  [ -d "$folder" ] && return 0
  say "fetching $what into $folder (once)"
  rm -rf "$folder.fetching"
  : >"$folder.log"
  run_logged "$folder.log" "fetching $what" \
    "$python" -m pip install --quiet --no-deps --no-compile --only-binary :all: --target "$folder.fetching" "$@"
  mv "$folder.fetching" "$folder"
}

fetch "$target" "OpenVINO $version" --require-hashes -r "$scripts_folder/requirements-openvino.txt"
if [ -n "$with_benchmark" ]; then
  fetch "$benchmark" "what OpenVINO's benchmark needs" --require-hashes -r "$scripts_folder/requirements-openvino-benchmark.txt"
fi
