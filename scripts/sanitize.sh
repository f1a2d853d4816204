#!/bin/bash
# Builds and runs unit tests under sanitizers, in a build folder of their own.
#
#   scripts/sanitize.sh asan-ubsan   all unit tests
#   scripts/sanitize.sh tsan         the tests of run, its workers, store, session and reading ahead, where threads and processes meet
#
# The ONNX library and protobuf are not instrumented; their containers cross into our code, so the check of container
# bounds (which needs both sides instrumented) is off.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-}
case "$preset" in
  asan-ubsan) targets=(unit_tests) selection=(-L unit) ;;
  tsan)
    targets=(deepgap_worker_runtime_test deepgap_worker_loop_c_test deepgap_run_test deepgap_store_test
      deepgap_trace_test deepgap_session_test)
    selection=(-R '^((worker_runtime|run|store|session)\.|trace\.(ReadAhead|Unpack|Read))')
    ;;
  *) fail "expected asan-ubsan or tsan; usage: scripts/sanitize.sh asan-ubsan|tsan" ;;
esac
folder="build/$preset"
cd "$scripts_folder/.."
rm -f "$folder/tests.xml"

scripts/configure.sh "$preset"
ninja -C "$folder" --quiet "${targets[@]}" test_programs

# Workers that crash on purpose must die of their signal, as they do for users.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_container_overflow=0:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=handle_segv=0:handle_abort=0:halt_on_error=1:second_deadlock_stack=1
run=()
# ThreadSanitizer wants its fixed addresses free, which a kernel with much address randomisation does not grant.
if [ "$preset" = tsan ] && setarch -R true 2>/dev/null; then
  run=(setarch -R)
fi
exec "${run[@]}" scripts/run-tests.sh "$folder" "${selection[@]}"
