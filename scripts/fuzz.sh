#!/bin/bash
# Fuzzes under AddressSanitizer and UndefinedBehaviorSanitizer, each target for a while, all processors at work.
#
#   scripts/fuzz.sh [TARGET...]      all targets where none is named; SECONDS_EACH=600 for longer than a minute
#
#   texts                 812345 runs    412 inputs kept   nothing found
#   models                  3210 runs    233 inputs kept   FOUND build/fuzz/found/models/crash-0f3a... (see ...)
#
# Inputs that reach new code are kept in build/fuzz/corpus/TARGET and built upon the next time. What is found becomes a
# test: HACKING.md says how.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$scripts_folder/.."

folder=build/fuzz
scripts/configure.sh fuzz
ninja -C "$folder" --quiet deepgap_fuzz
program=$PWD/$folder/deepgap_fuzz

# Leaks are looked for by the same targets among the unit tests (scripts/sanitize.sh): after each input it takes too long.
export ASAN_OPTIONS=detect_container_overflow=0:detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  mapfile -t targets < <(DEEPGAP_FUZZ_TARGET='' "$program" 2>&1 | awk '/^  /{print $1}')
fi

fuzz() {
  local target=$1 corpus=$folder/corpus/$1 seeds=$folder/seeds/$1 found=$folder/found/$1 log=$folder/$1.log status=0
  mkdir -p "$corpus" "$found"
  rm -rf "$seeds" && mkdir -p "$seeds"
  DEEPGAP_FUZZ_TARGET=$target DEEPGAP_FUZZ_SEEDS=$seeds "$program" "$corpus" "$seeds" \
    -max_total_time="${SECONDS_EACH:-60}" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -use_value_profile=1 \
    -detect_leaks=0 -entropic_scale_per_exec_time=1 -print_final_stats=1 -artifact_prefix="$found/" >"$log" 2>&1 || status=$?
  local runs result='nothing found'
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  # Counted by .ci/run, as a test each.
  if [ "$status" = 0 ]; then
    printf '<testcase name="fuzz %s" status="run"/>\n' "$target" >>"$folder/tests.partial"
  else
    printf '<testcase name="fuzz %s" status="fail"/>\n' "$target" >>"$folder/tests.partial"
  fi
  [ "$status" = 0 ] || result="FOUND $(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1) (see $log)"
  printf '%-16s %11s runs %6d inputs kept   %s\n' "$target" "${runs:-?}" "$(find "$corpus" -type f | wc -l)" "$result"
  return "$status"
}
export -f fuzz
export folder program

: >"$folder/tests.partial"
status=0
# shellcheck disable=SC2016  # $0 is the target that xargs gives
printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'fuzz "$0"' || status=$?
{ echo '<testsuite name="fuzz">' && cat "$folder/tests.partial" && echo '</testsuite>'; } >"$folder/tests.xml"
rm -f "$folder/tests.partial"
[ "$status" = 0 ] ||
  fail "inputs were found that break deepgap: they are named above"
