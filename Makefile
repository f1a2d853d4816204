# The commands of the README. `make help` lists them.

export DEEPGAP_BEGAN := $(shell date +%s)
stage := scripts/stage.sh
build := build/release
# Optional: the number of jobs, as JOBS=4. On a terminal ninja shows its progress in one line; elsewhere it is quiet.
ninja := ninja $(if $(JOBS),-j$(JOBS)) $(shell [ -t 2 ] || echo --quiet) -C
purposes := build

.PHONY: all demo test lint format sanitize fuzz bench clean help packages openvino-if-possible libraries openvino
.NOTPARALLEL:

all: packages libraries openvino-if-possible  ## build deepgap with every worker that can be built here
	@$(stage) "configure: $(build)" scripts/configure.sh release
	@$(stage) "build: everything, into $(build)" $(ninja) $(build)

demo: packages libraries openvino  ## measure resnet18 and resnet50 on this CPU and show the result
	@$(stage) "configure: $(build)" scripts/configure.sh release
	@$(stage) "build: deepgap and its OpenVINO worker" $(ninja) $(build) deepgap deepgap-worker-openvino
	@$(stage) "measure: ResNet-18 and ResNet-50 on this CPU, at most 90 s" scripts/demo.sh

test: libraries openvino  ## build and run every test
test: purposes := build test
test: packages
	@$(stage) "configure: $(build) with tests" scripts/configure.sh release DEEPGAP_TESTS=ON
	@$(stage) "build: everything with tests, into $(build)" $(ninja) $(build)
	@$(stage) "test: every test" scripts/run-tests.sh $(build)

lint: libraries openvino-if-possible  ## check format, clang-tidy and shellcheck
lint: purposes := build test lint
lint: packages
	@$(stage) "configure: $(build) with tests" scripts/configure.sh release DEEPGAP_TESTS=ON
	@$(stage) "lint: format, C++ and scripts" scripts/lint.py

format:  ## format the C++ sources
	@scripts/install-packages.sh lint
	@scripts/lint.py --fix-format

sanitize: libraries  ## unit tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer
sanitize: purposes := build test
sanitize: packages
	@$(stage) "asan-ubsan: all unit tests" scripts/sanitize.sh asan-ubsan
	@$(stage) "tsan: the tests of run and store" scripts/sanitize.sh tsan

fuzz: libraries  ## each fuzz target for a minute (SECONDS_EACH=600 for longer)
fuzz: purposes := build fuzz
fuzz: packages
	@$(stage) "fuzz: what comes from outside" scripts/fuzz.sh

bench: libraries  ## deepgap's own speed, as one table
bench: purposes := build bench
bench: packages
	@$(stage) "libraries: OpenVINO with its benchmark" scripts/fetch-openvino.sh --with-benchmark
	@$(stage) "configure: $(build) with bench" scripts/configure.sh release DEEPGAP_BENCH=ON
	@$(stage) "build: everything with bench, into $(build)" $(ninja) $(build)
	@$(stage) "bench: measuring" bench/run.sh $(build)

clean:  ## remove what was built (libraries in the cache folder stay)
	rm -rf build

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F '|' '{printf "%-14s %s\n", $$1, $$2}'
	@echo "Libraries are kept in $$(scripts/cache-folder.sh) (DEEPGAP_CACHE)."

# Each of these is quick where its work is done.
packages:
	@$(stage) "packages: for $(purposes)" scripts/install-packages.sh $(purposes)

libraries: packages
	@$(stage) "libraries: ONNX" scripts/fetch-onnx.sh
	@$(stage) "libraries: simdjson" scripts/fetch-simdjson.sh

openvino: packages
	@$(stage) "libraries: OpenVINO" scripts/fetch-openvino.sh

openvino-if-possible: packages
	@$(stage) "libraries: OpenVINO" scripts/fetch-openvino.sh || echo "going on without the engine openvino" >&2
