#include "session/store_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "core/summary.h"

namespace deepgap::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreSinkTest : public ::testing::Test {
 protected:
  StoreSinkTest() : store_(store::Store::open(folder_ / "x.db", store::OpenMode::kWrite)) {
    context_.devices["cpu"] = {.address = "cpu", .name = "Some CPU"};
    plan_.measure.repeats = plan_.measure.most_repeats = 2;
    plan_.models = {{.name = "a", .hash = "00"}};
    plan_.cells = {cell(1), cell(2)};
    EXPECT_TRUE(store_->create_sweep({.id = sweep_, .created_realtime_ns = 1}).ok());
  }

  static run::PlannedCell cell(std::int64_t batch) {
    run::PlannedCell planned;
    planned.key = {
        .workload = {.model = "a", .model_hash = "00", .batch = batch}, .engine = "fake", .device = "cpu"};
    return planned;
  }
  StoreSink sink() {
    Result<StoreSink> opened = StoreSink::open(*store_, sweep_, plan_, context_, clock_);
    EXPECT_TRUE(opened.ok());
    return std::move(*opened);
  }
  static ProcessRun process(int index) {
    return {.index = index, .samples = {.start_ns = {0, 10}, .host_ns = {9, 9}}};
  }
  // Ids of the diagnostics that a reader sees of the one stored cell, those that its samples give left out.
  std::vector<std::string> told() {
    std::vector<std::string> ids;
    const store::Visitor tell = [&ids](Measurement& measurement) {
      for (const Diagnostic& each : summarise(measurement, SummaryDepth::kQuick).diagnostics) {
        if (each.id != diagnostics::kFewSamples.id && each.id != diagnostics::kPrecisionNotReached.id)
          ids.push_back(each.id);
      }
      return true;
    };
    EXPECT_TRUE(store_->for_each({}, store::LoadDepth::kListColumns, tell).ok());
    return ids;
  }

  TemporaryFolder folder_;
  Result<store::Store> store_;
  SweepId sweep_{"00000000000000bb"};
  run::SweepPlan plan_;
  RunContext context_;
  FakeClock clock_;
};

TEST_F(StoreSinkTest, KeepsWhatIsOddAboutAModelOnce) {
  plan_.models[0].remarks = {"shapes contradict each other: at node 7"};
  StoreSink sink = this->sink();
  ASSERT_TRUE(sink.visit_done(plan_.cells[0], process(0), {}, {}, {}).ok());
  ASSERT_TRUE(sink.visit_done(plan_.cells[0], process(1), {}, {}, {}).ok());
  EXPECT_THAT(told(), ElementsAre("model_remark"));
}

// What the user left unfinished is no longer said once --resume has finished it.
TEST_F(StoreSinkTest, ACellThatWasStoppedMayBeFinished) {
  {
    StoreSink sink = this->sink();
    ASSERT_TRUE(sink.visit_done(plan_.cells[0], process(0), {}, {}, {}).ok());
    ASSERT_TRUE(sink.cell_ended(plan_.cells[0], {diagnose(diagnostics::kCancelled, "a", "1 of 2")}).ok());
    EXPECT_THAT(told(), ElementsAre("cancelled"));
  }
  StoreSink sink = this->sink();
  EXPECT_EQ(sink.processes_done().at(plan_.cells[0].key), 1);
  ASSERT_TRUE(sink.visit_done(plan_.cells[0], process(1), {}, {}, {}).ok());
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(StoreSinkTest, ARefusedCellIsStoredWithTheReason) {
  plan_.cells[1].refusal = run::Refusal{
      .kind = "unsupported", .doubt = &diagnostics::kUnsupportedPrecision, .text = "fake does not run fp16"};
  for (int run = 0; run < 2; ++run) {  // the second is a --resume
    StoreSink sink = this->sink();
    ASSERT_TRUE(sink.store_refusals().ok());
    EXPECT_EQ(sink.processes_done().at(plan_.cells[1].key), 2);  // nothing of it is left to do
    const auto headers = store_->headers({});
    ASSERT_TRUE(headers.ok());
    ASSERT_EQ(headers->size(), 1u);
    EXPECT_EQ(headers->front().failure->kind, "unsupported");
    EXPECT_EQ(headers->front().failure->text, "fake does not run fp16");
  }
  EXPECT_THAT(told(), ElementsAre("unsupported_precision"));
}

}  // namespace
}  // namespace deepgap::session
