#!/bin/bash
# `make demo`: measures ResNet-18 and ResNet-50 on this CPU, keeps the result in build/demo.db and says what to try next.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cd "$scripts_folder/.."
program=build/release/deepgap
store=build/demo.db
[ ! -e "$store" ] || echo "the demo's last result in $store is replaced" >&2
rm -f "$store" "$store-wal" "$store-shm"

# 6 cells of at most 10 s each, and the loads of their 24 visits: a call of some 100 ms needs that much.
status=0
"$program" run resnet18,resnet50 --engine openvino --device cpu --precision fp32 --batch 1,2,4 --mode latency \
  --repeats 4 --time-limit 10s --db "$store" || status=$?
# 4: a cell is without a result; the table says which, and the rest of it holds.
[ "$status" = 0 ] || [ "$status" = 4 ] || fail "the measurement ended with exit code $status; the lines above say why"

cat <<END

deepgap is $program here. Measured longer, in throughput mode too, on all batches up to 32, with
more processes where they differ:

  $program run resnet50 --batch 1,2,4,8,16,32 --time-limit 30s --repeats 3..6
  $program models
  $program devices
END
