#include "run/visit_record.h"

#include <gmock/gmock.h>

#include "run/run_test_support.h"

namespace deepgap::run {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(AsRequested, LooksAtValuesNotAtText) {
  for (const auto& [requested, effective] :
       std::vector<std::pair<std::string, std::string>>{{"2", "2"},
                                                        {"2", "2.0"},
                                                        {" 2", "2"},
                                                        {"on", "true"},
                                                        {"No", "off"},
                                                        {"BF16", "bf16"},
                                                        {"5ms", "5 ms"},
                                                        {"1000us", "1ms"},
                                                        {"0-2", "0,1,2"},
                                                        {"2,0", "0,2"},
                                                        {"auto", "7"},
                                                        {"engine", "nhwc"},
                                                        {"always", "always"},
                                                        {"1e3", "1000"},
                                                        {"0-3,8", "0-1,2-3,8"}}) {
    EXPECT_TRUE(is_as_requested(requested, effective)) << requested << " and " << effective;
  }
  for (const auto& [requested, effective] :
       std::vector<std::pair<std::string, std::string>>{{"2", "3"},
                                                        {"on", "off"},
                                                        {"5ms", "5 us"},
                                                        {"0-2", "0-3"},
                                                        {"always", "madvise"},
                                                        {"2", "auto"},
                                                        {"8", ""}}) {
    EXPECT_FALSE(is_as_requested(requested, effective)) << requested << " and " << effective;
  }
}

PlannedCell cell_of(Mode mode, const std::string& device = "cpu") {
  PlannedCell cell;
  cell.key.workload.model = "a";
  cell.key.workload.mode = mode;
  cell.key.engine = "fake";
  cell.key.device = device;
  return cell;
}

std::string value_of(const std::vector<Setting>& rows, std::string_view name) {
  std::string found;
  for (const Setting& row : rows)
    if (row.name == name) found += row.requested.value_or("-") + ">" + row.effective.value_or("-") + ";";
  return found;
}

TEST(VisitSettings, AreInTheWordsOfTheCatalogue) {
  MeasureRequest measure;
  measure.in_flight = 8;
  measure.asked.target = true;
  const std::vector<Setting> rows = visit_settings(cell_of(Mode::kThroughput), {}, measure, 42, 2);
  EXPECT_EQ(value_of(rows, "run.in_flight"), "8>2;");
  EXPECT_EQ(value_of(rows, "run.inputs"), "->random;");
  EXPECT_EQ(value_of(rows, "run.input_buffers"), "->4;");
  EXPECT_EQ(value_of(rows, "run.seed"), "->42;");
  EXPECT_EQ(value_of(rows, "run.target"), "0.01>0.01;");
  EXPECT_EQ(value_of(rows, "run.protocol"), "->adaptive;");
  EXPECT_EQ(value_of(rows, "run.transfers"), "->included;");
  for (const Setting& row : rows) EXPECT_NE(find_setting(row.name), nullptr) << row.name;
}

TEST(VisitSettings, AreRequestedWhereSomebodyAsked) {
  MeasureRequest measure;
  PlannedCell cell = cell_of(Mode::kLatency);
  cell.time_limit = std::chrono::seconds(5);
  measure.asked = {.time_limit = true, .input_buffers = true, .seed = true};
  const std::vector<Setting> rows = visit_settings(cell, {}, measure, 42, 1);
  EXPECT_EQ(value_of(rows, "run.time_limit"), "5 s>5 s;");
  EXPECT_EQ(value_of(rows, "run.target"), "->0.01;");
  EXPECT_EQ(value_of(rows, "run.input_buffers"), "4>4;");
  EXPECT_EQ(value_of(rows, "run.seed"), "42>42;");
}

TEST(VisitSettings, OfAFixedProtocolHaveNoTarget) {
  MeasureRequest measure;
  measure.fixed_warmup = 20;
  measure.fixed_calls = 100;
  const std::vector<Setting> rows = visit_settings(cell_of(Mode::kLatency), {}, measure, 1, 1);
  EXPECT_EQ(value_of(rows, "run.protocol"), "->fixed:20+100;");
  EXPECT_EQ(value_of(rows, "run.target") + value_of(rows, "run.time_limit"), "");
}

TEST(VisitSettings, KeepTheEnginesRows) {
  const LoadReply reply{
      .settings = {{"cpu.threads", "2", "2"}, {"run.in_flight", {}, "9"}, {"run.transfers", {}, "excluded"}}};
  const std::vector<Setting> rows = visit_settings(cell_of(Mode::kLatency, "cuda:0"), reply, {}, 1, 1);
  EXPECT_EQ(value_of(rows, "cpu.threads"), "2>2;");
  EXPECT_EQ(value_of(rows, "run.in_flight"), "->1;");  // ours, once
  EXPECT_EQ(value_of(rows, "run.transfers"), "->excluded;");
  // Of a device that copies, only the engine knows.
  EXPECT_EQ(value_of(visit_settings(cell_of(Mode::kLatency, "cuda:0"), {}, {}, 1, 1), "run.transfers"), "");
}

std::vector<std::string> doubts_of(const WorkerClient::Measured& measured,
                                   const std::vector<Setting>& settings, const MeasureRequest& measure = {}) {
  std::vector<std::string> ids;
  for (const Diagnostic& doubt : visit_doubts(cell_of(Mode::kLatency), measured, settings, measure))
    ids.push_back(doubt.id);
  return ids;
}

TEST(VisitDoubts, NameWhatTheMeasuringMissed) {
  WorkerClient::Measured measured;
  EXPECT_THAT(doubts_of(measured, {}), IsEmpty());
  measured.warmup_steady = false;
  EXPECT_THAT(doubts_of(measured, {}), ElementsAre("not_steady"));
  MeasureRequest fixed;
  fixed.fixed_warmup = 1;
  fixed.fixed_calls = 1;
  EXPECT_THAT(doubts_of(measured, {}, fixed), IsEmpty());
}

TEST(VisitDoubts, NameSettingsThatAreNotInForce) {
  const std::vector<Setting> settings{{"cpu.threads", "8", "2"},
                                      {"cpu.streams", "auto", "2"},
                                      {"memory.huge_pages", "always", {}},
                                      {"cpu.affinity", {}, "0-1"}};
  const auto found = visit_doubts(cell_of(Mode::kLatency), {}, settings, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "setting_not_effective");
  EXPECT_EQ(found[0].where, "a/fake/cpu/fp32/b1");
  EXPECT_THAT(found[0].text, HasSubstr("cpu.threads: requested 8, effective 2"));
}

TEST(VisitDoubts, SayWhoDecidesOnHugePages) {
  const auto found =
      visit_doubts(cell_of(Mode::kLatency), {}, {{"memory.huge_pages", "always", "madvise"}}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].text, HasSubstr("effective madvise; a process can only turn them off"));
}

}  // namespace
}  // namespace deepgap::run
