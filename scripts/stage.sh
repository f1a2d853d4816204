#!/bin/bash
# Announces a stage with the time since make began, runs it, and says what it took.
#
#   scripts/stage.sh TEXT COMMAND...
#
#   [0:00] libraries: ONNX, built from its source once
#   [1:03] libraries: took 63 s

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

text=$1
shift
began=$(date +%s)
since=${DEEPGAP_BEGAN:-$began}
stamp() {
  local elapsed=$(($(date +%s) - since))
  printf '[%d:%02d]' $((elapsed / 60)) $((elapsed % 60))
}

say "$(stamp) $text"
status=0
"$@" || status=$?
took=$(($(date +%s) - began))
if [ "$status" != 0 ]; then
  say "$(stamp) ${text%%:*}: failed after $took s"
elif [ "$took" -ge 5 ]; then
  say "$(stamp) ${text%%:*}: took $took s"
fi
exit "$status"
