#include "store/test_support.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace deepgap::store {

void StoreTest::SetUp() {
  std::string name = (std::filesystem::temp_directory_path() / "deepgap-store-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
}

void StoreTest::TearDown() {
  std::error_code ignored;
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, ignored);
  std::filesystem::remove_all(folder_, ignored);
}

void StoreTest::write(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string StoreTest::read(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Store StoreTest::open(const std::string& path, OpenMode mode) {
  Result<Store> store = Store::open(path, mode);
  if (!store.ok()) ADD_FAILURE() << store.error().message();
  return std::move(store).value();
}

pid_t fork_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  _exit(body());
}

int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
}

MeasurementId id_of(int number) {
  return MeasurementId(fmt::format("{:016x}", number));
}

ProcessRun make_process(int index, std::size_t samples) {
  ProcessRun run;
  run.index = index;
  run.load_time = Nanoseconds(1'000'000 + index);
  run.first_call = Nanoseconds(2'000'000);
  run.warmup_calls = 7;
  run.warmup_time = Nanoseconds(9'000'000);
  run.peak_memory = Bytes{123'456'789};
  run.stop_reason = StopReason::kTimeLimit;
  run.started = {Nanoseconds(5'000'000'000 + index), Nanoseconds(1'764'500'000'000'000'000 + index)};
  for (std::size_t i = 0; i < samples; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    run.samples.start_ns.push_back(5'000'001'000 + number * 3'000'000);
    run.samples.host_ns.push_back(2'500'000 + number * 17 + index);
  }
  return run;
}

Measurement make_measurement(int number, int processes) {
  Measurement m;
  m.id = id_of(number);
  m.key.workload.model = "resnet50";
  m.key.workload.model_hash = "0123456789abcdef0123456789abcdef";
  m.key.workload.batch = 8;
  m.key.engine = "openvino";
  m.key.device = "cpu";
  m.device.address = "cpu";
  m.device.name = "Intel(R) Xeon(R) Processor";
  m.device.aliases = {"xeon", "host"};
  m.device.facts = {{"cores.physical", "2", ""}, {"cache.l2", "2097152", "B"}};
  m.engine_version = "2026.4.1";
  m.created_realtime_ns = 1'764'500'000'000'000'000 + number * std::int64_t{1'000'000'000};
  m.planned_processes = 3;
  for (int i = 0; i < processes; ++i) m.processes.push_back(make_process(i));
  return m;
}

std::string describe(const Measurement& m) {
  const auto number = [](const auto& optional) {
    if (!optional.has_value()) return std::string("-");
    if constexpr (requires { optional->count(); }) {
      return std::to_string(optional->count());
    } else {
      return std::to_string(optional->value);
    }
  };
  const auto process_of = [](const auto& row) {
    return row.process ? std::to_string(*row.process) : std::string("all");
  };
  const auto column = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += fmt::format("{} ", value);
    return text;
  };
  std::string text =
      fmt::format("{} {} {} hash {} engine {} {} device {} created {} planned {} origin {} target {}\n",
                  m.id.str(), m.sweep.str(), m.key.selector(), m.key.workload.model_hash, m.key.engine,
                  m.engine_version, m.key.device, m.created_realtime_ns, m.planned_processes, m.origin,
                  m.target ? fmt::format("{}", *m.target) : std::string("-"));
  for (const auto& [name, value] : m.key.workload.dims) text += fmt::format("dim {}={}\n", name, value);
  text += fmt::format("device {} {} {}\n", m.device.address, m.device.name, name_of(m.device.kind));
  for (const std::string& alias : m.device.aliases) text += fmt::format("alias {}\n", alias);
  for (const DeviceFact& fact : m.device.facts)
    text += fmt::format("fact {} {} {}\n", fact.name, fact.value, fact.unit);
  for (const Ceiling& one : m.device.ceilings) {
    text += fmt::format("ceiling {} {} {} {} {}\n", one.quantity, one.value, name_of(one.unit),
                        name_of(one.origin), one.note);
  }
  for (const ProcessRun& run : m.processes) {
    text += fmt::format(
        "process {} load {} first {} warmup {} {} window {} completed {} memory {} {} stop {} started {} "
        "{}\n",
        run.index, number(run.load_time), number(run.first_call), run.warmup_calls, run.warmup_time.count(),
        number(run.window), run.completed, number(run.peak_memory), number(run.peak_device_memory),
        name_of(run.stop_reason), run.started.monotonic_at.count(), run.started.realtime_at.count());
    text += fmt::format(" host {}\n start {}\n enqueue {}\n device {}\n", column(run.samples.host_ns),
                        column(run.samples.start_ns), column(run.samples.enqueue_ns),
                        column(run.samples.device_ns));
  }
  for (const Setting& setting : m.settings) {
    text += fmt::format("setting of {} {} {} {}\n", process_of(setting), setting.name,
                        setting.requested.value_or("(none)"), setting.effective.value_or("(none)"));
  }
  for (const Diagnostic& one : m.diagnostics) {
    text += fmt::format("diagnostic of {} {} {} {} {} {}\n", process_of(one), one.id, name_of(one.severity),
                        one.where, one.text, one.count);
  }
  for (const TelemetrySeries& series : m.telemetry) {
    text += fmt::format("telemetry of {} {} {} {} at {} values {}\n", process_of(series), series.quantity,
                        series.source, name_of(series.unit), column(series.at_ns), column(series.values));
  }
  for (const AccuracyRecord& one : m.accuracy) {
    text += fmt::format("accuracy of {} {} {} {} {}\n", process_of(one), one.reference, one.quantity,
                        one.value, one.n);
  }
  for (const ReportedValue& one : m.reported) {
    text += fmt::format("reported {} {} {} {} {}\n", one.process, one.metric, one.value, name_of(one.unit),
                        one.n ? std::to_string(*one.n) : std::string("-"));
  }
  if (m.failure.has_value()) {
    text +=
        fmt::format("failure {} {} {}\n", m.failure->kind, m.failure->text, number(m.failure->bytes_asked));
  }
  return text;
}

}  // namespace deepgap::store
