#include "session/list_summaries.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/random.h"
#include "report/render.h"
#include "report/views.h"

namespace deepgap::session {
namespace {

Measurement cell_of(Random& random, int number, std::size_t samples) {
  Measurement cell;
  cell.id = MeasurementId(std::to_string(number));
  cell.key.workload.model = "resnet50";
  cell.key.workload.batch = number + 1;
  cell.planned_processes = 3;
  cell.target = 0.01;
  for (int process = 0; process < number % 4; ++process) {  // some have none
    ProcessRun run{.index = process};
    std::int64_t at = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      run.samples.start_ns.push_back(at);
      run.samples.host_ns.push_back(
          static_cast<std::int64_t>(1e6 * (1 + number % 7) * std::exp(0.03 * random.normal())));
      at += run.samples.host_ns.back() + 500;
    }
    cell.processes.push_back(std::move(run));
  }
  if (number % 3 == 0) cell.diagnostics.push_back(diagnose(diagnostics::kForeignLoad, "cell", "38 %"));
  if (number % 11 == 0) cell.failure = CellFailure{"hang", "third process", std::nullopt};
  return cell;
}

// Every number and text of the cells.
std::string json_of(std::vector<CellSummary> cells) {
  return report::render_json(report::list_document({.cells = std::move(cells)}), "0");
}

class ListSummariesTest : public testing::TestWithParam<unsigned> {};

// Bit for bit what one thread makes of each cell, in the order in which they came; the sizes end batches by
// their cells, by their samples, and by both.
TEST_P(ListSummariesTest, AreThoseOfEachCellInOrder) {
  for (const std::size_t samples : {1U, 67U, 1'000U, 20'000U}) {
    const int cells = samples > 10'000 ? 21 : 333;
    Random random(samples);
    ListSummaries summaries(GetParam());
    std::vector<CellSummary> expected;
    Measurement cell;
    for (int number = 0; number < cells; ++number) {
      cell = cell_of(random, number, number % 50 == 49 ? 8 * samples : samples);
      expected.push_back(summarise(cell, SummaryDepth::kQuick));
      summaries.add(cell);
    }
    EXPECT_EQ(json_of(summaries.take()), json_of(std::move(expected)));
  }
}

TEST_P(ListSummariesTest, CanBeTakenAgainAndEmpty) {
  Random random(1);
  ListSummaries summaries(GetParam());
  EXPECT_TRUE(summaries.take().empty());
  for (int round = 0; round < 3; ++round) {
    for (int number = 0; number < 40; ++number) {
      Measurement cell = cell_of(random, number, 10);
      summaries.add(cell);
    }
    const std::vector<CellSummary> taken = summaries.take();
    ASSERT_EQ(taken.size(), 40U);
    for (int number = 0; number < 40; ++number) {
      EXPECT_EQ(taken[static_cast<std::size_t>(number)].key.workload.batch, number + 1);
    }
  }
}

TEST_P(ListSummariesTest, NeedNotBeTaken) {
  Random random(2);
  ListSummaries summaries(GetParam());
  for (int number = 0; number < 200; ++number) {
    Measurement cell = cell_of(random, number, 50);
    summaries.add(cell);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, ListSummariesTest, testing::Values(0U, 1U, 3U));

}  // namespace
}  // namespace deepgap::session
