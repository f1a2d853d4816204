#include "trace/kineto/kineto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/temporary_folder.h"
#include "trace/raw_event.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;

const std::string kFixtures = DEEPGAP_SOURCE_FOLDER "/tests/data/traces/kineto/";
const std::string kThirdParty = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/";

Result<Timeline> read_file(const std::string& path) {
  DEEPGAP_ASSIGN(ByteSource source, ByteSource::open(path));
  return read_kineto(source);
}

class KinetoTest : public testing::Test {
 protected:
  Timeline read(const std::string& events, const std::string& beside = "") {
    const std::string path = folder_ / "trace.json";
    std::ofstream(path) << "{" << beside << "\"traceEvents\": [" << events << "]}";
    Result<Timeline> timeline = read_file(path);
    EXPECT_TRUE(timeline.ok());
    return std::move(timeline.value());
  }

  TemporaryFolder folder_;
};

// A double keeps a quarter of a microsecond of such a time.
TEST(NanosecondsOf, AreExact) {
  EXPECT_EQ(nanoseconds_of("1790857026123456.789"), 1790857026123456789);
  EXPECT_EQ(nanoseconds_of("5197239432012.250"), 5197239432012250);
  EXPECT_EQ(nanoseconds_of("0.001"), 1);
  EXPECT_EQ(nanoseconds_of("0.0004"), 0);
  EXPECT_EQ(nanoseconds_of("0.0005"), 1);
  EXPECT_EQ(nanoseconds_of("12.3456789"), 12346);
  EXPECT_EQ(nanoseconds_of("12"), 12000);
  EXPECT_EQ(nanoseconds_of("-1.5"), -1500);
  EXPECT_EQ(nanoseconds_of("-0.5"), -500);
  EXPECT_EQ(nanoseconds_of("\"17.25\" "), 17250);
  EXPECT_EQ(nanoseconds_of("1.5e3"), 1500000);
  EXPECT_EQ(nanoseconds_of("9223372036854775.0"), std::nullopt);
  EXPECT_EQ(nanoseconds_of("1e300"), std::nullopt);
  for (const char* wrong : {"", "x", "1.2.3", "null", "1,5", "--1", "\"\""}) {
    EXPECT_EQ(nanoseconds_of(wrong), std::nullopt) << wrong;
  }
}

TEST(IdOf, ReachesBeyondTheSignedNumbers) {
  EXPECT_EQ(id_of("10159970886766084423"), 10159970886766084423U);
  EXPECT_EQ(id_of("\"7\""), 7U);
  EXPECT_EQ(id_of("-1"), std::nullopt);
  EXPECT_EQ(id_of("18446744073709551615"), std::nullopt);
  EXPECT_EQ(id_of("18446744073709551616"), std::nullopt);
  EXPECT_EQ(id_of("1.5"), std::nullopt);
}

TEST_F(KinetoTest, KeepsWhatAnEventSays) {
  const Timeline timeline = read(
      R"json({"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 10, "tid": 11, "ts": 100.5, "dur": 20.25,
          "args": {"External id": 2, "Input Dims": [[1, 3], []], "Input type": ["float", ""], "Concrete Inputs": ["", "1"]}},
         {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 11, "ts": 101, "dur": 5,
          "args": {"External id": 2, "correlation": 9}},
         {"ph": "X", "cat": "kernel", "name": "gemm\u003c1\u003e", "pid": 0, "tid": "stream 7 ", "ts": 110, "dur": 8,
          "args": {"External id": 2, "correlation": 9, "device": 1, "stream": 7, "grid": [2, 3, 4], "block": "[5, 6, 7]",
                   "registers per thread": 32, "shared memory": 4096}},
         {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 90, "dur": 1, "args": {"bytes": 64}},
         {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 10, "tid": 11, "ts": 99,
          "args": {"Bytes": -512, "Total Allocated": 1024, "Device Id": 1, "Device Type": 1}},
         {"ph": "s", "id": 9, "pid": 10, "tid": 11, "ts": 101, "cat": "ac2g", "name": "ac2g"},
         {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "x", "ts": 50, "dur": 200},
         {"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "ts": 0, "args": {"name": "thread 11 (python)"}})json",
      R"("baseTimeNanoseconds": 1700000000000000000, "record_shapes": 1,
         "deviceProperties": [{"id": 1, "name": "Some GPU", "numSms": 132, "computeMajor": 9, "computeMinor": 0}],)");
  ASSERT_EQ(timeline.events.size(), 4U);
  const Event& copy = timeline.events[0];
  EXPECT_EQ(copy.role, Role::kCopy);
  EXPECT_EQ(timeline.launches[copy.detail].bytes, 64U);
  const Event& op = timeline.events[1];
  EXPECT_EQ(timeline.texts[op.name], "aten::conv2d");
  EXPECT_EQ(op.start_ns, 100500);
  EXPECT_EQ(op.duration_ns, 20250);
  EXPECT_EQ(op.op, 2U);
  EXPECT_EQ(timeline.lanes[op.lane].name, "thread 11 (python)");
  EXPECT_EQ(timeline.texts[timeline.ops[op.detail].shapes], "[[1, 3], []]");
  EXPECT_EQ(timeline.texts[timeline.ops[op.detail].dtypes], R"(["float", ""])");
  EXPECT_EQ(timeline.texts[timeline.ops[op.detail].values], R"(["", "1"])");
  const Event& call = timeline.events[2];
  EXPECT_EQ(call.role, Role::kRuntimeCall);
  EXPECT_EQ(call.correlation, 9U);
  const Event& kernel = timeline.events[3];
  EXPECT_EQ(timeline.texts[kernel.name], "gemm<1>");
  const LaunchDetail& launch = timeline.launches[kernel.detail];
  EXPECT_EQ(launch.device, 1);
  EXPECT_EQ(launch.stream, 7);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(launch.block, (std::array<std::uint32_t, 3>{5, 6, 7}));
  EXPECT_EQ(launch.registers, 32U);
  EXPECT_EQ(launch.shared_memory, 4096U);
  ASSERT_EQ(timeline.memory.size(), 1U);
  EXPECT_EQ(timeline.memory[0].bytes, -512);
  EXPECT_EQ(timeline.memory[0].device, 1);
  EXPECT_EQ(timeline.counts.read, 8);
  EXPECT_EQ(timeline.counts.kept, 5);
  EXPECT_EQ(timeline.counts.ignored, 3);
  EXPECT_EQ(timeline.window_start_ns, 50'000);
  EXPECT_EQ(timeline.window_end_ns, 250'000);
  EXPECT_EQ(timeline.base_realtime_ns, 1700000000000000000);
  ASSERT_EQ(timeline.devices.size(), 1U);
  EXPECT_EQ(timeline.devices[0].name, "Some GPU");
  EXPECT_EQ(timeline.devices[0].multiprocessors, 132);
  EXPECT_EQ(timeline.devices[0].compute_capability, "9.0");
}

TEST_F(KinetoTest, BeginsAndEndsAreIntervals) {
  const Timeline timeline =
      read(R"({"ph": "B", "cat": "cpu_op", "name": "outer", "pid": 1, "tid": 1, "ts": 10},
    {"ph": "B", "cat": "cpu_op", "name": "inner", "pid": 1, "tid": 1, "ts": 12},
    {"ph": "B", "cat": "cpu_op", "name": "other", "pid": 1, "tid": 2, "ts": 13},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 15}, {"ph": "E", "pid": 1, "tid": 1, "ts": 20},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 21})");
  ASSERT_EQ(timeline.events.size(), 2U);
  EXPECT_EQ(timeline.texts[timeline.events[0].name], "outer");
  EXPECT_EQ(timeline.events[0].duration_ns, 10'000);
  EXPECT_EQ(timeline.events[1].duration_ns, 3'000);
  EXPECT_EQ(timeline.counts.lost, 2);  // the one without an end, the end without a begin
  EXPECT_EQ(timeline.counts.read, 6);
}

TEST_F(KinetoTest, WhatHasNoUsableTimeIsLost) {
  const Timeline timeline =
      read(R"({"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": -1.5},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": "x", "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 10, "dur": 0},
    {"ph": "X", "cat": "kernel", "name": "e", "pid": 0, "tid": 7, "ts": 10, "args": "none"})");
  EXPECT_EQ(timeline.counts.kept, 2);
  EXPECT_EQ(timeline.counts.lost, 3);
}

// Sums of such times would be no numbers.
TEST_F(KinetoTest, TimesBeyondEveryProfilersAreLost) {
  const Timeline timeline =
      read(R"({"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 9.1e15, "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": -9.1e15, "dur": 1},
    {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 1, "dur": 9.1e15},
    {"ph": "B", "cat": "cpu_op", "name": "d", "pid": 0, "tid": 7, "ts": -2e15}, {"ph": "E", "pid": 0, "tid": 7, "ts": 4e15},
    {"ph": "X", "cat": "kernel", "name": "e", "pid": 0, "tid": 7, "ts": 1, "dur": 2.3e15},
    {"ph": "X", "cat": "kernel", "name": "f", "pid": 0, "tid": 7, "ts": 1, "dur": 2.3e15},
    {"ph": "X", "cat": "kernel", "name": "g", "pid": 0, "tid": 7, "ts": 1, "dur": 2.3e15},
    {"ph": "X", "cat": "kernel", "name": "h", "pid": 0, "tid": 7, "ts": 1, "dur": 2.3e15},
    {"ph": "X", "cat": "kernel", "name": "i", "pid": 0, "tid": 7, "ts": 1, "dur": 2.3e15})");
  EXPECT_EQ(timeline.counts.lost, 5);
  EXPECT_EQ(total_of(timeline, Role::kKernel).count, 5);
  EXPECT_EQ(total_of(timeline, Role::kKernel).ns, std::numeric_limits<std::int64_t>::max());
}

TEST(Kineto, FixturesHaveTheirKernels) {
  struct Fixture {
    const char* name;
    std::int64_t events, kernels, kernel_ns;
  };
  // Counted and summed with Python's json and decimal.
  for (const Fixture& fixture :
       {Fixture{"bert_small", 6036, 363, 1952758}, Fixture{"bert_small_graph", 813, 363, 1989186},
        Fixture{"resnet50_b1_graph", 1449, 654, 2431953}}) {
    const Result<Timeline> timeline = read_file(kFixtures + fixture.name + ".pt.trace.json.gz");
    ASSERT_TRUE(timeline.ok());
    EXPECT_EQ(timeline->counts.read, fixture.events) << fixture.name;
    EXPECT_EQ(timeline->counts.lost, 0) << fixture.name;
    EXPECT_EQ(total_of(*timeline, Role::kKernel).count, fixture.kernels) << fixture.name;
    EXPECT_EQ(total_of(*timeline, Role::kKernel).ns, fixture.kernel_ns) << fixture.name;
    EXPECT_EQ(timeline->devices.at(0).name, "NVIDIA H200");
  }
}

// "... 6,533 events: ...; Kernel 4.976 ms in 559 (68 names), GPU span 32.259 ms, wall 36.727 ms."
struct Checked {
  std::string file;
  double events = 0, kernel_ms = 0, kernels = 0, wall_ms = 0;
};

double number_at(std::string_view text, std::size_t at) {
  std::string digits;
  for (; at < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[at])) != 0 || text[at] == ',' || text[at] == '.');
       ++at) {
    if (text[at] != ',') digits += text[at];
  }
  return digits.empty() ? std::nan("") : std::stod(digits);
}

std::vector<Checked> checked_files() {
  std::vector<Checked> files;
  std::ifstream index(kThirdParty + "INDEX.md");
  for (std::string line; std::getline(index, line);) {
    const std::size_t kernel = line.find(". Kernel ");
    const std::size_t events = line.find(" events: ");
    if (!line.starts_with("- **kineto/") || kernel == std::string::npos || events == std::string::npos)
      continue;
    Checked file;
    file.file = line.substr(4, line.find("**", 4) - 4);
    file.events = number_at(line, line.rfind(' ', events - 1) + 1);
    file.kernel_ms = number_at(line, kernel + 9);
    file.kernels = number_at(line, line.find(" in ", kernel) + 4);
    file.wall_ms = number_at(line, line.find("wall ", kernel) + 5);
    files.push_back(std::move(file));
  }
  return files;
}

TEST(Kineto, ThirdPartyFilesHaveTheIndexsCounts) {
  const std::vector<Checked> files = checked_files();
  if (files.empty()) GTEST_SKIP() << "there is no ../shared/traces/third-party";
  EXPECT_GE(files.size(), 18U);
  for (const Checked& file : files) {
    const Result<Timeline> timeline = read_file(kThirdParty + file.file);
    ASSERT_TRUE(timeline.ok()) << timeline.error().message();
    const Total kernels = total_of(*timeline, Role::kKernel);
    EXPECT_EQ(static_cast<double>(timeline->counts.read), file.events) << file.file;
    EXPECT_EQ(timeline->counts.read,
              timeline->counts.kept + timeline->counts.ignored + timeline->counts.lost);
    EXPECT_EQ(timeline->counts.lost, 0) << file.file;
    EXPECT_EQ(static_cast<double>(kernels.count), file.kernels) << file.file;
    EXPECT_NEAR(static_cast<double>(kernels.ns) / 1e6, file.kernel_ms, 0.00051) << file.file;
    EXPECT_NEAR(static_cast<double>(timeline->window_end_ns - timeline->window_start_ns) / 1e6, file.wall_ms,
                0.00051)
        << file.file;
  }
}

// Each is the same small trace (220 events, 14 kernels of 0.111 ms) with one thing wrong.
TEST(Kineto, BrokenFilesGiveWhatCanBeSaved) {
  struct Broken {
    const char* name;
    std::int64_t read, kernels, lost;
  };
  if (!std::ifstream(kThirdParty + "INDEX.md")) GTEST_SKIP() << "there is no ../shared/traces/third-party";
  for (const Broken& file :
       {Broken{"trailing_comma.json", 220, 14, 0}, Broken{"two_members.json.gz", 220, 14, 0},
        Broken{"utf8_bom.json", 220, 14, 0}, Broken{"string_ts_dur.json", 220, 14, 0},
        Broken{"nan_infinity.json", 220, 14, 0}, Broken{"reversed_order.json", 220, 14, 0},
        Broken{"one_correlation_for_all_kernels.json", 220, 14, 0}, Broken{"bare_array.json", 220, 14, 0},
        Broken{"raw_control_char.json", 220, 14, 0}, Broken{"negative_dur.json", 220, 13, 1},
        Broken{"windows_backslash.json", 75, 1, 0}, Broken{"trunc_mid_event.json", 106, 0, 1},
        Broken{"trunc.json.gz", 97, 0, 1}}) {
    const Result<Timeline> timeline = read_file(kThirdParty + "derived/" + file.name);
    ASSERT_TRUE(timeline.ok()) << timeline.error().message();
    EXPECT_EQ(timeline->counts.read, file.read) << file.name;
    EXPECT_EQ(timeline->counts.lost, file.lost) << file.name;
    EXPECT_EQ(total_of(*timeline, Role::kKernel).count, file.kernels) << file.name;
  }
  EXPECT_THAT(read_file(kThirdParty + "derived/empty.json").error().message(), HasSubstr("found nothing"));
  EXPECT_THAT(read_file(kThirdParty + "derived/html_error_page.json").error().message(),
              HasSubstr("expected JSON"));
}

}  // namespace
}  // namespace deepgap::trace
