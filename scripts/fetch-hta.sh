#!/bin/bash
# HolisticTraceAnalysis, the peer of bench/'s trace part, in a Python environment of its own in the cache folder, once.
#
#   scripts/fetch-hta.sh --python    fetches it if it is not there, and prints its Python

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=0.5.0
# With pandas 3, which it does not exclude, it fails where a file has more than 32,767 events.
target="$(cache_folder)/hta-$version-pandas2"
[ "${1:-}" = --python ] || fail "usage: scripts/fetch-hta.sh --python"

if [ ! -e "$target/done" ]; then
  lock "$(basename "$target")"
  if [ ! -e "$target/done" ]; then
    say "fetching HolisticTraceAnalysis $version into $target (once)"
    python=$(find_python)
    log="$target.log"
    rm -rf "$target"
    : >"$log"
    run_logged "$log" "making a Python environment" "$python" -m venv "$target"
    run_logged "$log" "fetching HolisticTraceAnalysis" "$target/bin/python" -m pip install --quiet "HolisticTraceAnalysis==$version" "pandas<3"
    touch "$target/done"
  fi
fi
echo "$target/bin/python"
