#include "session/export_layout_studies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "report/render.h"
#include "session/stored.h"
#include "session/sweep_request.h"

namespace deepgap::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StudyExport : public ::testing::Test {
 protected:
  StudyExport() : path_(folder_ / "x.db"), store_(store::Store::open(path_, store::OpenMode::kWrite)) {
    environment_.say = [this](std::string_view line) { said_.emplace_back(line); };
  }

  void sweep(char digit, std::int64_t created, bool published = false) {
    RunOptions options;
    options.like_published = published;
    const store::Sweep made{.id = SweepId(std::string(16, digit)),
                            .created_realtime_ns = created,
                            .command_line = "deepgap run",
                            .plan_json = request_json(options)};
    ASSERT_TRUE(store_->create_sweep(made).ok());
  }
  Measurement cell(char sweep_digit, int processes = 1) {
    Measurement made{.id = MeasurementId(std::string(14, '0') + std::to_string(10 + cells_++)),
                     .sweep = SweepId(std::string(16, sweep_digit)),
                     .key = {.workload = {.model = "a", .batch = 4}, .engine = "fake", .device = "cpu"},
                     .created_realtime_ns = 1000 + cells_};
    made.device = {.address = "cpu", .name = "Some CPU"};
    for (int index = 0; index < processes; ++index) {
      made.processes.push_back({.index = index, .samples = {.start_ns = {0, 10, 20}, .host_ns = {5, 6, 7}}});
    }
    return made;
  }
  void put(const Measurement& measurement) {
    const Result<void> stored = store_->put_measurement(measurement);
    ASSERT_TRUE(stored.ok()) << stored.error().message();
  }
  Answer exported(const std::string& layout = "gdev-ai") {
    Result<Answer> answer = export_cells(path_, {"*"}, layout, environment_);
    EXPECT_TRUE(answer.ok()) << answer.error().message();
    return std::move(*answer);
  }

  TemporaryFolder folder_;
  std::string path_;
  Result<store::Store> store_;
  Environment environment_;
  std::vector<std::string> said_;
  int cells_ = 0;
};

TEST_F(StudyExport, CellsWithCallsInFlightAreLeftOutAndSaid) {
  sweep('a', 1);
  put(cell('a'));
  Measurement in_flight = cell('a');
  in_flight.key.workload.mode = Mode::kThroughput;
  for (ProcessRun& process : in_flight.processes) {
    process.completed = static_cast<std::int64_t>(process.samples.size());
    process.window = std::chrono::seconds(1);
  }
  put(in_flight);
  Measurement failed = cell('a', 0);
  failed.key.workload.batch = 8;
  failed.failure = CellFailure{.kind = "crash", .text = "died"};
  put(failed);
  const Answer answer = exported();
  const std::string csv = report::render_csv(answer.document);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 2) << "a head and a row: " << csv;
  EXPECT_THAT(said_,
              ElementsAre("export: 1 of 3 cells is left out: the columns gdev-ai are of calls made one "
                          "at a time, and it was measured with calls in flight",
                          "export: 1 of 3 cells is left out: without samples there are no rows"));
  EXPECT_THAT(report::render_text(answer.document, {}), HasSubstr("calls in flight."));
  said_.clear();
  exported("deepgap");
  EXPECT_THAT(said_, IsEmpty()) << "our own columns hold everything";
}

TEST_F(StudyExport, SweepsOfAStoreAreNumberedOldestFirst) {
  sweep('c', 30);
  sweep('b', 20, true);  // 7 repeats: three sweeps of the study
  sweep('a', 10);
  put(cell('a'));
  put(cell('b', 7));
  put(cell('c'));
  put(cell('a', 2));
  const Result<StudySweeps> numbers = StudySweeps::of(*store_);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(numbers->first_of(SweepId(std::string(16, 'a'))), 1);
  EXPECT_EQ(numbers->first_of(SweepId(std::string(16, 'b'))), 2);
  EXPECT_EQ(numbers->first_of(SweepId(std::string(16, 'c'))), 5);
  EXPECT_THAT(report::render_csv(exported().document), HasSubstr(",cpu,5,1,a,4,"));
}

TEST_F(StudyExport, WhatTheColumnsCannotTellApartIsSaid) {
  sweep('a', 1);
  put(cell('a'));
  Measurement other = cell('a');
  other.key.engine = "openvino";
  other.key.workload.dims = {{"seq", 64}};
  put(other);
  Measurement elsewhere = cell('a');  // another batch: its rows do tell
  elsewhere.key.workload.batch = 8;
  elsewhere.key.workload.precision = Precision::kBf16;
  put(elsewhere);
  exported();
  EXPECT_THAT(said_,
              ElementsAre("export: the columns gdev-ai have none for the engine (fake, openvino): rows "
                          "that differ in it alone cannot be told apart; name one in the subject, as in "
                          "'*/fake/*/*/*'",
                          "export: the columns gdev-ai have none for the dimensions (none, seq=64): rows "
                          "that differ in it alone cannot be told apart; the columns deepgap have one"));
}

}  // namespace
}  // namespace deepgap::session
