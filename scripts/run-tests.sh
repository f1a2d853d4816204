#!/bin/bash
# Runs the tests of a build folder and leaves their counts in its tests.xml (JUnit), for .ci/run.
#
#   scripts/run-tests.sh BUILD-FOLDER [CTEST-ARGUMENT...]

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$1
shift
rm -f "$folder/tests.xml"
exec ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "${JOBS:-2}" \
  --output-junit tests.xml "$@"
