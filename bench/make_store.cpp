// A large store for bench/bench.py: deepgap_bench_make_store FILE CELLS SAMPLES
// The samples of a cell are spread over three processes, as a default run has them.

#include <charconv>
#include <cstdio>
#include <string_view>

#include "base/hash.h"
#include "base/random.h"
#include "store/store.h"

namespace {

constexpr int kProcesses = 3;

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

deepgap::Measurement make_cell(std::int64_t index, std::int64_t samples, deepgap::Random& random) {
  using namespace deepgap;
  Measurement cell{.id = MeasurementId(new_random_hex(16)),
                   .key = {.workload = {.model = "resnet" + std::to_string(18 + index % 84),
                                        .model_hash = "0",
                                        .batch = 1 + index % 512},
                           .engine = "openvino",
                           .device = "cpu"},
                   .engine_version = "2026.4.1",
                   .created_realtime_ns = 1'796'000'000'000'000'000 + index * 1'000'000'000,
                   .planned_processes = kProcesses};
  cell.device = {.address = "cpu", .name = "Some CPU"};
  const double level = 1e6 * static_cast<double>(1 + index % 100);
  std::int64_t now = 0;
  for (int process = 0; process < kProcesses; ++process) {
    ProcessRun run{.index = process, .load_time = Nanoseconds{500'000'000}};
    for (std::int64_t i = process; i < samples; i += kProcesses) {
      const auto host = static_cast<std::int64_t>(level * (1 + 0.02 * random.normal()));
      run.samples.start_ns.push_back(now);
      run.samples.host_ns.push_back(host);
      now += host + 500;
    }
    cell.processes.push_back(std::move(run));
  }
  for (const std::string_view name : {"cpu.threads", "cpu.streams", "run.seed", "run.inputs"}) {
    cell.settings.push_back({.name = std::string(name), .requested = "1", .effective = "1"});
  }
  return cell;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace deepgap;
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FILE CELLS SAMPLES\n", argv[0]);
    return 2;
  }
  Result<store::Store> store = store::Store::open(argv[1], store::OpenMode::kWrite);
  if (!store.ok()) {
    std::fprintf(stderr, "%s\n", store.error().message().c_str());
    return 3;
  }
  Random random(1);
  const std::int64_t cells = number(argv[2]);
  const std::int64_t samples = number(argv[3]);
  const Result<void> made = store->in_one_transaction([&]() -> Result<void> {
    for (std::int64_t i = 0; i < cells; ++i)
      DEEPGAP_RETURN_IF_ERROR(store->put_measurement(make_cell(i, samples, random)));
    return {};
  });
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().message().c_str());
    return 3;
  }
  return 0;
}
