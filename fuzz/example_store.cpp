#include "example_store.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/file_system.h"
#include "base/text.h"
#include "report/render.h"
#include "session/stored.h"
#include "store/store.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = access(memory.c_str(), W_OK) == 0;
    path_ =
        ((usable ? memory : std::filesystem::temp_directory_path(error)) / "deepgap-fuzz-XXXXXX").string();
    require(mkdtemp(path_.data()) != nullptr, "a temporary folder can be made");
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void remove_store(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

Measurement example_cell(int number, Mode mode) {
  Measurement cell;
  cell.id = MeasurementId("000000000000000" + std::to_string(number));
  cell.sweep = SweepId("00000000000000aa");
  cell.key = {.workload = {.model = "resnet50",
                           .model_hash = "0123456789abcdef",
                           .dims = {{"seq", 128}},
                           .batch = 8,
                           .mode = mode},
              .engine = "openvino",
              .device = "cpu"};
  cell.device = {.address = "cpu",
                 .name = "Intel(R) Xeon(R) Processor",
                 .aliases = {"xeon", "host"},
                 .facts = {{"cores.physical", "2", ""}, {"cache.l2", "2097152", "B"}},
                 .ceilings = {{.quantity = "flops.fp32.vector", .value = 1e12}}};
  cell.engine_version = "2026.4.1";
  cell.created_realtime_ns = 1'764'500'000'000'000'000 + number;
  cell.planned_processes = 2;
  for (int index = 0; index < 2; ++index) {
    ProcessRun process{
        .index = index, .load_time = Nanoseconds(1'000'000), .first_call = Nanoseconds(2'000'000)};
    for (std::int64_t i = 0; i < 12; ++i) {
      process.samples.start_ns.push_back(5'000'001'000 + i * 3'000'000);
      process.samples.host_ns.push_back(2'500'000 + i * 17);
      process.samples.enqueue_ns.push_back(1000 + i);
      process.samples.device_ns.push_back(2'000'000 + i);
    }
    if (mode == Mode::kThroughput) {
      process.window = Nanoseconds(36'000'000);
      process.completed = 12;
    }
    process.peak_memory = deepgap::Bytes{123'456'789};
    process.started = {Nanoseconds(5'000'000'000), Nanoseconds(1'764'500'000'000'000'000)};
    cell.processes.push_back(std::move(process));
  }
  cell.settings = {{"cpu.threads", "2", "2"},
                   {"host.name", std::nullopt, "bench-3"},
                   {"run.protocol", std::nullopt, "fixed:20+100"}};
  cell.diagnostics = {diagnose(diagnostics::kForeignLoad, "cell", "other processes used 38 % of the cores")};
  cell.telemetry = {{.quantity = "clock.cpu",
                     .source = "cpufreq:cpu0",
                     .unit = Unit::kHertz,
                     .at_ns = {1, 2},
                     .values = {2e9, 2.1e9}}};
  cell.accuracy = {{.reference = "openvino/cpu/fp32", .quantity = "relative_l2", .value = 1e-6, .n = 1000}};
  cell.reported = {{.metric = "p99", .value = 3e6, .n = 100}};
  if (number == 2) cell.failure = CellFailure{"out_of_memory", "it needs more", deepgap::Bytes{1}};
  return cell;
}

std::string make_example() {
  const std::string path = scratch_file("example.db");
  {
    auto store = store::Store::open(path, store::OpenMode::kWrite);
    require(checked(store), "a store can be made");
    bool ok = store
                  ->create_sweep({.id = SweepId("00000000000000aa"),
                                  .created_realtime_ns = 1,
                                  .command_line = "deepgap run",
                                  .seed = 1,
                                  .plan_json = "{}"})
                  .ok();
    ok = ok && store->put_measurement(example_cell(1, Mode::kLatency)).ok();
    ok = ok && store->put_measurement(example_cell(2, Mode::kThroughput)).ok();
    const OpRecord op{.name = "Convolution",
                      .op_class = "convolution",
                      .shapes = {{1, 3, 8, 8}},
                      .dtypes = {"float32"},
                      .module_path = "conv1",
                      .duration = Nanoseconds(5),
                      .lane = "0",
                      .parent = 0,
                      .flops = Flops{7},
                      .precision_path = Precision::kFp32};
    const store::Trace trace{.id = store::TraceId("00000000000000bb"),
                             .measurement = example_cell(1, Mode::kLatency).id,
                             .process = 0,
                             .format = "engine-profile",
                             .source = "openvino"};
    ok = ok && store->put_trace(trace, std::vector<OpRecord>{op, op}).ok();
    require(ok, "the example can be stored");
  }
  std::string bytes = RootedFileSystem().read(path).value();
  remove_store(path);
  return bytes;
}

template <typename T>
void say(const Result<T>& answer) {
  if (checked(answer)) require_document(answer->document);
}

void read_store(const std::string& path) {
  auto store = store::Store::open(path, store::OpenMode::kRead);
  if (!checked(store)) return;
  if (const auto sweeps = store->sweeps(); checked(sweeps)) {
    for (const store::Sweep& sweep : *sweeps) (void)checked(store->load_sweep(sweep.id));
  }
  (void)checked(store->devices());
  for (const auto depth :
       {store::LoadDepth::kHeader, store::LoadDepth::kListColumns, store::LoadDepth::kAll}) {
    const auto visited =
        store->for_each({}, depth, [](Measurement& cell) { return cell.sample_count() >= 0; });
    if (!checked(visited)) continue;
    for (const std::string& problem : visited->problems)
      require(printable(problem, problem.size()) == problem, "a problem can be printed");
  }
  if (const auto headers = store->headers({}); checked(headers)) {
    for (const store::MeasurementHeader& header : *headers) (void)checked(store->load(header.id));
  }
  if (const auto traces = store->traces(); checked(traces)) {
    for (const store::Trace& trace : *traces) (void)checked(store->op_records(trace.id));
  }
}

void write_to_store(const std::string& path) {
  auto store = store::Store::open(path, store::OpenMode::kWrite);
  if (!checked(store)) return;
  (void)checked(store->put_measurement(example_cell(3, Mode::kLatency)));
  (void)checked(store->append_visit(example_cell(1, Mode::kLatency).id, {.process = ProcessRun{.index = 2}}));
  (void)checked(store->set_failure(example_cell(2, Mode::kLatency).id, std::nullopt));
}

}  // namespace

std::string scratch_file(const std::string& name) {
  static const ScratchFolder folder;
  return folder.path() + "/" + name;
}

const std::string& example_store() {
  static const std::string bytes = make_example();
  return bytes;
}

void write_scratch(const std::string& path, std::string_view bytes) {
  FILE* file = std::fopen(path.c_str(), "wb");
  require(file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
              std::fclose(file) == 0,
          "a temporary file can be written");
}

std::string write_store(std::string_view bytes) {
  std::string path = scratch_file("fuzzed.db");
  remove_store(path);
  write_scratch(path, bytes);
  return path;
}

void require_document(const report::Document& document) {
  for (const auto format :
       {report::Format::kText, report::Format::kMarkdown, report::Format::kCsv, report::Format::kJson}) {
    const std::string text = report::render(document, format, {.version = "0"});
    if (format == report::Format::kCsv) continue;  // texts are as they are stored
    for (const std::string& line : split(text, '\n')) {
      require(printable(line, 4 * line.size()) == line, "what is shown can be printed: " + printable(line));
    }
  }
}

void use_store(const std::string& path, std::size_t use) {
  const auto is = [kind = use % 7](std::size_t one) { return kind == 0 || kind == one; };
  if (is(1)) read_store(path);
  if (is(2)) say(session::list(path, {}));
  if (is(3)) {
    for (const char* id : {"0000000000000001", "0000000000000002"}) say(session::show(path, id));
  }
  if (is(4)) {
    for (const char* layout : {"deepgap", "gdev-ai"}) say(session::export_cells(path, {}, layout, {}));
  }
  if (is(5)) {
    const std::string other = scratch_file("merged.db");
    remove_store(other);
    say(session::merge(other, {path}));
  }
  if (is(6)) write_to_store(path);
}

}  // namespace deepgap::fuzz
