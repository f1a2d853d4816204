#!/bin/bash
# All of bench/ as one table: bench/run.sh BUILD_FOLDER [--only PART,...]
exec python3 "$(dirname "$0")/bench.py" "$@"
