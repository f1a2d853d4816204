#include "trace/nsys_sqlite/nsys_sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "trace/attribution.h"
#include "trace/quality.h"
#include "trace/steps.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class NsysSqlite : public ::testing::Test {
 protected:
  void run(const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &connection), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_free(error);
    sqlite3_close(connection);
  }
  std::string path() const { return folder_ / "report.sqlite"; }

  TemporaryFolder folder_;
};

const char* const kSmall = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'void gemm<float>(int)'), (3, 'cudaLaunchKernel_v7000'), (4, 'worker'), (5, 'step');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, shortName INTEGER, demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 5000, 1, 7, 9, 16777216*5, 1, 2, 64, 1, 1), (8000, 7000, 1, 7, 10, 16777216*5, 1, 2, 1, 1, 1),
  (9000, 9500, 1, 13, 9, 16777216*6, 1, NULL, 1, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, "end" INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
  copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, bytes INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (6000, 6500, 1, 7, 11, 1, 0, 2, 4096);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 16777216*5+8, 9, 3), (8000, 8100, 16777216*6+8, 9, 3);
CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, textId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (500, 9900, 59, 16777216*5+8, NULL, 5), (600, 1600, 59, 16777216*5+8,
  'aten::linear, op_id = 12, sizes = [[16, 8], [4, 8]]', NULL), (700, NULL, 34, 16777216*5+8, 'mark', NULL);
CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);
INSERT INTO ThreadNames VALUES (4, 16777216*5+8);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (1, 'NVIDIA H200', 132), (1, 'NVIDIA H200', 132);
CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2023.1.2');
)";

TEST_F(NsysSqlite, TablesAreATimeline) {
  run(kSmall);
  const auto content = read_file(path());
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "nsys-sqlite");
  const Timeline& timeline = *content->timeline;
  EXPECT_EQ(timeline.counts.read, 9);
  EXPECT_EQ(timeline.counts.kept, 7);
  EXPECT_EQ(timeline.counts.ignored, 1);
  EXPECT_EQ(timeline.counts.lost, 1);
  EXPECT_EQ(timeline.diagnostics.at(0).id, "negative_durations");
  EXPECT_EQ(total_of(timeline, Role::kKernel).ns, 3500);
  ASSERT_THAT(timeline.devices, SizeIs(1));
  EXPECT_EQ(timeline.devices[0].multiprocessors, 132);
  EXPECT_THAT(timeline.facts, ::testing::Contains(::testing::Pair("nsys", "2023.1.2")));
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    const std::string_view name = timeline.texts[event.name];
    if (event.role == Role::kKernel) {
      // Each has the call of its own process, though both have the correlation 9.
      ASSERT_NE(timeline.calls[i], kNoEvent);
      EXPECT_EQ(timeline.events[timeline.calls[i]].start_ns, event.start_ns == 2000 ? 1000 : 8000);
      EXPECT_EQ(name, event.start_ns == 2000 ? "void gemm<float>(int)" : "gemm");
    }
    if (event.role == Role::kRuntimeCall) {
      EXPECT_EQ(name, "cudaLaunchKernel");
    }
    if (event.role == Role::kCopy) {
      EXPECT_EQ(name, "Memcpy HtoD (Pageable -> Device)");
    }
    if (event.role == Role::kAnnotation) {
      EXPECT_EQ(name, "step");
    }
    if (event.role == Role::kOp) {
      EXPECT_EQ(name, "aten::linear");
      EXPECT_EQ(timeline.texts[timeline.ops[event.detail].shapes], "[[16, 8], [4, 8]]");
      EXPECT_EQ(timeline.lanes[event.lane].name, "worker");
    }
  }
}

TEST_F(NsysSqlite, WhatIsNoExportSaysItsTables) {
  run("CREATE TABLE notes (text TEXT); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start");
  const auto content = read_file(path());
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message(), HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL, found notes"));
}

TEST_F(NsysSqlite, HostileValuesAreLostOrUnknown) {
  run(R"(CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, "end", deviceId, streamId, correlationId, demangledName, gridX);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-9223372036854775808, 9223372036854775807, 0, 0, 0, 0, 0), ('x', 5, 0, 0, 0, 0, 0),
    (NULL, 5, 0, 0, 0, 0, 0), (1.5, 5, 0, 0, 0, 0, 0), (1, 2, -5, 9223372036854775807, -1, 77, 99999999999), (3, 4, NULL, NULL, NULL,
    NULL, NULL);)");
  const auto content = read_file(path());
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->timeline->counts.lost, 4);
  EXPECT_EQ(total_of(*content->timeline, Role::kKernel).count, 2);
}

TEST_F(NsysSqlite, ACutFileIsUnusableOrGivesWhatItHas) {
  run(kSmall);
  const auto whole = read_file(path());
  std::ifstream in(path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (std::size_t size = 1024; size < bytes.size(); size += 1024) {
    const auto content = read_content(std::string_view(bytes).substr(0, size));
    if (!content.ok()) continue;
    const Timeline& timeline = *content->timeline;
    EXPECT_LE(timeline.events.size(), whole->timeline->events.size());
    const Steps steps = find_steps(timeline);
    EXPECT_NE(judge(timeline, steps, attribute(timeline, steps)).verdict, Verdict::kUsable) << size;
  }
}

TEST(NsysSqliteFiles, ThirdPartyFilesHaveTheIndexsFigures) {
  DEEPGAP_NEED_THIRD_PARTY();
  for (const std::string name : {"nsysai_healthy_1pct", "nsysai_mfu_2gpu_before", "fuser_report1"}) {
    const std::string file = "nsys-sqlite/" + name + ".sqlite";
    const auto content = read_file(kThirdParty + file);
    ASSERT_TRUE(content.ok()) << content.error().message();
    const Timeline& timeline = *content->timeline;
    const auto count = [&](const char* before, const char* after) {
      const std::string text = index_value(file, before, after);
      return text.empty() || text == "absent" ? 0 : std::stol(text);
    };
    const Total kernels = total_of(timeline, Role::kKernel);
    EXPECT_EQ(kernels.count, count("kernels ", ",")) << file;
    EXPECT_EQ(total_of(timeline, Role::kCopy).count, count("memcpy ", ",")) << file;
    EXPECT_EQ(total_of(timeline, Role::kRuntimeCall).count, count("runtime ", ",")) << file;
    EXPECT_EQ(total_of(timeline, Role::kAnnotation).count + total_of(timeline, Role::kOp).count,
              count("NVTX ", ","))
        << file;
    EXPECT_NEAR(static_cast<double>(kernels.ns) / 1e6, std::stod(index_value(file, "kernel ", " ms")), 0.0005)
        << file;
    // The span of the kernels.
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
    for (const Event& event : timeline.events) {
      if (event.role != Role::kKernel) continue;
      first = std::min(first, event.start_ns);
      last = std::max(last, event.end_ns());
    }
    EXPECT_NEAR(static_cast<double>(last - first) / 1e6, std::stod(index_value(file, "span ", " ms")), 0.0005)
        << file;
    const Steps steps = find_steps(timeline);
    const Attribution attribution = attribute(timeline, steps);
    EXPECT_NE(judge(timeline, steps, attribution).verdict, Verdict::kUnusable) << file;
  }
}

}  // namespace
}  // namespace deepgap::trace
