#include "report/views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/render.h"
#include "report/trace_findings.h"

namespace deepgap::report {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Estimate estimate(double value, Unit unit) {
  return {
      .value = value, .lower = value * 0.99, .upper = value * 1.01, .n = 300, .unit = unit, .method = "test"};
}

CellSummary cell(const std::string& model, std::int64_t batch, Mode mode = Mode::kLatency) {
  CellSummary summary{.id = MeasurementId("0123456789abcdef"),
                      .sweep = SweepId("fedcba9876543210"),
                      .key = {.workload = {.model = model, .batch = batch, .mode = mode},
                              .engine = "openvino",
                              .device = "cpu"},
                      .device_name = "Some CPU",
                      .processes = 3,
                      .planned_processes = 3,
                      .samples = 300};
  summary.latency = summary.p50 = summary.p90 = summary.p95 = estimate(2e6, Unit::kNanoseconds);
  summary.throughput = estimate(500, Unit::kSamplesPerSecond);
  summary.created_realtime_ns = 1'796'000'000'000'000'000;
  return summary;
}

nlohmann::json json_of_document(const Document& document) {
  return nlohmann::json::parse(render_json(document, "0"));
}

TEST(ListView, JsonHasTheMembersOfTheContract) {
  const Document document = list_document({.cells = {cell("resnet50", 8)}});
  const nlohmann::json json = json_of_document(document);
  EXPECT_EQ(json.at("schema"), "deepgap.list/1");
  const nlohmann::json& row = json.at("cells").at(0);
  EXPECT_EQ(row.at("id"), "0123456789abcdef");
  EXPECT_EQ(row.at("model"), "resnet50");
  EXPECT_EQ(row.at("engine"), "openvino");
  EXPECT_EQ(row.at("device"), "cpu");
  EXPECT_EQ(row.at("precision"), "fp32");
  EXPECT_EQ(row.at("batch"), 8);
  EXPECT_EQ(row.at("mode"), "latency");
  EXPECT_EQ(row.at("latency").at("value"), 2'000'000);
  EXPECT_EQ(row.at("latency").at("n"), 300);
  EXPECT_EQ(row.at("throughput").at("unit"), "samples/s");
  EXPECT_EQ(row.at("processes"), 3);
  for (const char* name : {"p50", "p90", "p95"}) EXPECT_TRUE(row.contains(name)) << name;
  EXPECT_FALSE(row.contains("p99")) << "unknown is absent";
  EXPECT_TRUE(row.at("diagnostics").is_array());
  EXPECT_EQ(row.at("created_utc"), "2026-11-30T00:53:20Z");  // date -u -d @1796000000
}

TEST(ListView, WhatAllCellsShareIsSaidOnce) {
  const std::string text =
      render_text(list_document({.cells = {cell("resnet18", 1), cell("resnet50", 8)}}), {.width = 150});
  EXPECT_THAT(text, HasSubstr("2 cells: engine openvino, device cpu, device name Some CPU, precision fp32."));
  EXPECT_THAT(text, HasSubstr("id        model     batch  mode"));
}

TEST(ListView, CellsOfOtherSizesDoNotLookAlike) {
  CellSummary short_one = cell("bert-base", 1);
  short_one.key.workload.dims = {{"seq", 64}};
  const std::string text =
      render_text(list_document({.cells = {short_one, cell("resnet50", 8)}}), {.width = 150});
  EXPECT_THAT(text, ContainsRegex("model +dims +batch"));
  EXPECT_THAT(text, ContainsRegex("bert-base +seq=64 +1 "));
  EXPECT_THAT(render_csv(list_document({.cells = {cell("resnet50", 8)}})), Not(HasSubstr("dims")));
  ShowFindings findings{.summary = short_one};
  findings.measurement.key = short_one.key;
  EXPECT_THAT(render_text(show_document(findings), {}), HasSubstr("of bert-base with seq=64 on cpu"));
}

TEST(ListView, AnEmptyStoreSaysWhatToDo) {
  EXPECT_THAT(render_text(list_document({}), {}), HasSubstr("`deepgap run`"));
  EXPECT_EQ(json_of_document(list_document({})).at("cells").size(), 0U);
}

TEST(RunView, FailedCellsAreNamedWithTheirReason) {
  CellSummary failed = cell("resnet101", 512);
  failed.latency = failed.p50 = failed.p90 = failed.p95 = failed.throughput = std::nullopt;
  failed.samples = 0;
  failed.processes = 0;
  failed.failure =
      CellFailure{.kind = "out_of_memory", .text = "needs 12 GB", .bytes_asked = Bytes{12'000'000'000}};
  failed.diagnostics = {{.id = "out_of_memory", .severity = Severity::kError, .text = "needs 12 GB"},
                        {.id = "worker_lost", .severity = Severity::kError, .text = "died before"}};
  const Document document = run_document({.sweep = SweepId("fedcba9876543210"),
                                          .database = "x.db",
                                          .cells = {cell("resnet50", 8), failed},
                                          .planned_cells = 2});
  const std::string text = render_text(document, {.width = 150});
  EXPECT_THAT(text, HasSubstr("1 of 2 cells measured"));
  EXPECT_THAT(text, HasSubstr("error out_of_memory  resnet101/openvino/cpu/fp32/b512: needs 12 GB"));
  EXPECT_EQ(text.find("needs 12 GB"), text.rfind("needs 12 GB")) << "each fact once";
  EXPECT_THAT(text, HasSubstr("out_of_memory, worker_lost"));
  EXPECT_THAT(text, HasSubstr("died before"));
  EXPECT_EQ(json_of_document(document).at("cells").at(1).at("failure").at("bytes_asked"), 12'000'000'000);
}

// What a failure's kind has no remedy for, the diagnostic that says the same has.
TEST(RunView, ALostWorkerIsToldOnceWithItsRemedy) {
  CellSummary failed = cell("resnet101", 512);
  failed.samples = 0;
  failed.failure = CellFailure{.kind = "crash", .text = "the worker died"};
  failed.diagnostics = {{.id = "worker_lost", .severity = Severity::kError, .text = "the worker died"}};
  const std::string text = render_text(run_document({.cells = {failed}, .planned_cells = 1}), {.width = 300});
  EXPECT_THAT(text, HasSubstr("error crash  resnet101/openvino/cpu/fp32/b512: the worker died. " +
                              std::string(remedy_of("worker_lost"))));
  EXPECT_THAT(text, Not(HasSubstr("worker_lost")));
}

TEST(RunView, SameDiagnosticOfManyCellsIsOneLine) {
  std::vector<CellSummary> cells{cell("resnet18", 1), cell("resnet18", 2), cell("resnet18", 4)};
  for (CellSummary& each : cells)
    each.diagnostics.push_back({.id = "steal_time", .severity = Severity::kWarning, .text = "2 % stolen"});
  const std::string text = render_text(run_document({.cells = cells, .planned_cells = 3}), {.width = 200});
  EXPECT_THAT(
      text,
      HasSubstr("warning steal_time  resnet18/openvino/cpu/fp32/b1: 2 % stolen (and 2 more such cells)"));
}

TEST(RunView, AnInterruptedSweepSaysWhereItsResultsAre) {
  const std::string text = render_text(run_document({.database = "x.db",
                                                     .cells = {},
                                                     .planned_cells = 4,
                                                     .cancelled = true,
                                                     .next_commands = {"deepgap run --resume"}}),
                                       {});
  EXPECT_THAT(text, HasSubstr("stopped by the user, what was finished is in x.db"));
  EXPECT_THAT(text, HasSubstr("\n  deepgap run --resume\n"));
}

TEST(PlanView, RefusedCellsSayWhy) {
  PlanFindings findings{.time = Nanoseconds{20'000'000'000},
                        .most_time = Nanoseconds{60'000'000'000},
                        .most_processes = 12,
                        .visits = 3,
                        .processes = 3,
                        .seed = 7};
  findings.cells = {{.key = cell("resnet50", 8).key,
                     .repeats = 3,
                     .memory = Bytes{400'000'000},
                     .time = Nanoseconds{20'000'000'000},
                     .most_time = Nanoseconds{60'000'000'000}},
                    {.key = cell("resnet50", 512).key, .repeats = 0, .refusal = "does not fit"}};
  const std::string text = render_text(plan_document(findings), {.width = 150});
  EXPECT_THAT(text, HasSubstr("2 cells, 3 visits in 3 fresh processes, order by seed 7"));
  EXPECT_THAT(text, HasSubstr("up to 12 processes a cell where they differ"));
  EXPECT_THAT(text, AllOf(HasSubstr("about 20 s in all if the machine is quiet"), HasSubstr("most 1 min")));
  EXPECT_THAT(text, HasSubstr("does not fit"));
  const nlohmann::json json = json_of_document(plan_document(findings));
  EXPECT_EQ(json.at("cells").at(0).at("forecast_memory_bytes"), 400'000'000);
  EXPECT_EQ(json.at("cells").at(0).at("forecast_most_ns"), 60'000'000'000);
  EXPECT_EQ(json.at("cells").at(1).at("refused").at("reason"), "does not fit");
}

TEST(ShowView, ContextProcessesAndMethodsAreThere) {
  ShowFindings findings;
  findings.summary = cell("resnet50", 8);
  findings.measurement.id = findings.summary.id;
  findings.measurement.key = findings.summary.key;
  findings.measurement.device.name = "Some CPU";
  findings.measurement.engine_version = "2026.4.1";
  findings.measurement.settings = {{.name = "cpu.threads", .requested = "4", .effective = "2"}};
  findings.processes = {{.index = 0,
                         .samples = 100,
                         .median = estimate(2e6, Unit::kNanoseconds),
                         .load_time = Nanoseconds{800'000'000}}};
  const Document document = show_document(findings);
  const std::string text = render_text(document, {.width = 150});
  EXPECT_THAT(text, HasSubstr("engine openvino 2026.4.1"));
  EXPECT_THAT(text, HasSubstr("cpu.threads  4          2"));
  const nlohmann::json json = json_of_document(document);
  EXPECT_EQ(json.at("schema"), "deepgap.show/1");
  EXPECT_EQ(json.at("context").at("effective").at("cpu.threads"), "2");
  EXPECT_EQ(json.at("device").at("name"), "Some CPU");
  EXPECT_EQ(json.at("samples").at(0).at("load_ns"), 800'000'000);
}

TEST(EnginesView, AnAbsentEngineSaysWhatItNeeds) {
  const std::vector<EngineRow> rows{{.name = "torch", .reason = "not built here: it needs a PyTorch"}};
  EXPECT_THAT(render_text(engines_document(rows), {}), HasSubstr("not built here: it needs a PyTorch"));
  const nlohmann::json json = json_of_document(engines_document(rows));
  EXPECT_EQ(json.at("engines").at(0).at("available"), false);
  EXPECT_FALSE(json.at("engines").at(0).contains("version"));
}

TEST(DevicesView, CeilingsCarryUnitAndOrigin) {
  const std::vector<Device> devices{{.address = "cpu",
                                     .name = "Some CPU",
                                     .facts = {{"cache.l2", "2097152", "B"}},
                                     .ceilings = {{.quantity = "flops.fp32.vector", .value = 2e11}}}};
  EXPECT_THAT(render_text(devices_document(devices), {}), HasSubstr("2.097 MB"));
  const nlohmann::json ceiling =
      json_of_document(devices_document(devices)).at("devices").at(0).at("ceilings").at(0);
  EXPECT_EQ(ceiling.at("unit"), "FLOP/s");
  EXPECT_EQ(ceiling.at("origin"), "probe");
}

TEST(ExportView, EmptyFieldsStayEmptyInCsv) {
  const Document document =
      export_document({.layout = "gdev-ai", .columns = {"device", "torch_version"}, .rows = {{"cpu", ""}}});
  EXPECT_EQ(render_csv(document), "device,torch_version\ncpu,\n");
}

TEST(ExportView, NumbersAreNumbersInJsonAndTextStaysText) {
  const Document document = export_document({.layout = "deepgap",
                                             .columns = {"id", "batch", "p50_ns", "threads"},
                                             .text_columns = {"id"},
                                             .rows = {{"12345678", "8", "31290000.5", "auto"}}});
  const nlohmann::ordered_json row = document.data().at("rows").at(0);
  EXPECT_EQ(row.at("id"), "12345678");
  EXPECT_EQ(row.at("batch"), 8);
  EXPECT_EQ(row.at("p50_ns"), 31290000.5);
  EXPECT_EQ(row.at("threads"), "auto");
}

TEST(RunView, SaturationThatCannotBeToldIsNotClaimed) {
  RunFindings findings{.sweep = SweepId("fedcba9876543210"), .cells = {cell("resnet50", 1)}};
  SaturationRow row{.key = findings.cells[0].key};
  row.saturation =
      Saturation{.state = SaturationState::kCannotTell, .batch = 1, .at_most = 8, .by_values = 2};
  findings.saturation.push_back(row);
  row.saturation = Saturation{.state = SaturationState::kCannotTell, .batch = 4, .by_values = 4};
  findings.saturation.push_back(row);
  row.saturation = Saturation{
      .state = SaturationState::kReached, .batch = 16, .throughput = estimate(500, Unit::kSamplesPerSecond)};
  findings.saturation.push_back(row);
  const Document document = run_document(findings);
  const std::string text = render_text(document, {.width = 150});
  EXPECT_THAT(text,
              ContainsRegex("- +-  cannot tell, intervals too wide: batch 1 to 8, by the values alone 2"));
  EXPECT_THAT(text, HasSubstr("cannot tell, intervals too wide: batch 4 or larger, by the values alone 4"));
  const nlohmann::json rows = json_of_document(document).at("saturation");
  EXPECT_EQ(rows.at(0).at("state"), "cannot_tell");
  EXPECT_EQ(rows.at(0).at("batch_at_least"), 1);
  EXPECT_EQ(rows.at(0).at("batch_at_most"), 8);
  EXPECT_EQ(rows.at(0).at("batch_by_values"), 2);
  EXPECT_FALSE(rows.at(0).contains("batch") || rows.at(0).contains("throughput"));
  EXPECT_FALSE(rows.at(1).contains("batch_at_most"));
  EXPECT_EQ(rows.at(2).at("state"), "reached");
  EXPECT_EQ(rows.at(2).at("batch"), 16);
}

TEST(ShowView, TelemetryAndOtherTimesAreShown) {
  ShowFindings findings{.summary = cell("resnet50", 8)};
  findings.measurement.key = findings.summary.key;
  findings.summary.enqueue_time = estimate(40'000, Unit::kNanoseconds);
  findings.summary.device_time = estimate(1e6, Unit::kNanoseconds);
  findings.telemetry = {{.quantity = "clock.cpu",
                         .source = "cpufreq:cpu0",
                         .unit = Unit::kHertz,
                         .process = 1,
                         .n = 9,
                         .minimum = 1e9,
                         .median = 2e9,
                         .maximum = 3e9}};
  const Document document = show_document(findings);
  const nlohmann::json json = json_of_document(document);
  EXPECT_EQ(json.at("enqueue_time").at("value"), 40'000);
  EXPECT_EQ(json.at("device_time").at("unit"), "ns");
  const nlohmann::json expected{
      {"quantity", "clock.cpu"}, {"source", "cpufreq:cpu0"}, {"unit", "Hz"},        {"process", 1}, {"n", 9},
      {"min", 1'000'000'000},    {"median", 2'000'000'000},  {"max", 3'000'000'000}};
  EXPECT_EQ(json.at("telemetry").at(0), expected);
  const std::string text = render_text(document, {.width = 150});
  EXPECT_THAT(text, ContainsRegex("enqueue time .median. +40.00 us"));
  EXPECT_THAT(text, ContainsRegex("device time .median. +1.000 ms"));
  EXPECT_THAT(text, ContainsRegex("clock.cpu +cpufreq:cpu0 +1 +9 +1 GHz +2 GHz +3 GHz"));
}

TEST(ModelsView, AnUnknownFieldOfCsvIsEmpty) {
  const std::vector<ModelRow> models{{.name = "resnet50", .title = "ResNet-50", .inputs = "image"}};
  EXPECT_THAT(render_csv(models_document(models)), HasSubstr("resnet50,ResNet-50,image,,0,0"));
  const std::vector<EngineRow> engines{{.name = "fake", .available = true, .version = "1"}};
  EXPECT_THAT(render_csv(engines_document(engines)), HasSubstr("fake,1,yes,,,\n"));
}

TEST(ListView, ImportedFiguresAreNoUnfinishedCell) {
  ListFindings findings;
  findings.cells = {cell("resnet50", 8)};
  findings.cells[0].processes = 0;
  findings.cells[0].reported_only = true;
  const Document document = list_document(findings);
  EXPECT_THAT(render_text(document, {.width = 150}),
              AllOf(HasSubstr("reported only"), Not(HasSubstr("processes"))));
  EXPECT_EQ(json_of_document(document).at("cells").at(0).at("reported_only"), true);
}

TEST(TraceView, VerdictThenTheMeanOfTheStepsThatMayHaveOne) {
  TraceFindings findings{.path = "a.json", .format = "kineto", .verdict = "usable_with_loss"};
  findings.diagnostics = {
      {.id = "launches_without_kernels", .severity = Severity::kWarning, .where = "s2", .text = "4 of 10"}};
  findings.devices = {{.id = 0, .name = "Some\x1b[31m GPU"}};
  findings.device = 0;
  findings.window_ns = 5'000'000;
  findings.read = findings.kept = 100;
  findings.kernels = 30;
  findings.kernel_ns = 2'000'000;
  findings.step_basis = "profiler_steps";
  const auto step = [](const char* name, std::int64_t kernel, std::int64_t idle, bool warmup, bool broken) {
    return TraceFindings::Step{.name = name,
                               .wall_ns = kernel + idle,
                               .warmup = warmup,
                               .broken = broken,
                               .labels = {{"kernel", kernel}, {"idle_framework", idle}, {"idle_unknown", 0}}};
  };
  findings.steps = {step("s0", 9'000'000, 0, true, false), step("s1", 1'000'000, 3'000'000, false, false),
                    step("s2", 100'000, 200'000, false, true),
                    step("s3", 2'000'000, 2'000'000, false, false)};
  findings.averaged = {1, 3};
  const Document document = trace_document(findings);
  const std::string text = render_text(document, {.width = 150});
  EXPECT_THAT(text, HasSubstr("Usable with loss"));
  EXPECT_THAT(text, HasSubstr("mean of 2"));
  EXPECT_THAT(text, ContainsRegex("idle_framework +2.5 +62.5.*\nkernel +1.5 +37.5.*\na step +4 +100\n"));
  EXPECT_THAT(text, ContainsRegex("s0 .*warm-up\ns1 .*\ns2 .*broken: in no average"));
  EXPECT_THAT(text, Not(HasSubstr("idle_unknown")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  const nlohmann::json json = json_of_document(document);
  EXPECT_EQ(json.at("schema"), "deepgap.trace/1");
  EXPECT_EQ(json.at("quality").at("verdict"), "usable_with_loss");
  EXPECT_EQ(json.at("kernels").at("total_ns"), 2'000'000);
  EXPECT_EQ(json.at("steps").at(1).at("labels").at(1).at("ns"), 3'000'000);
  EXPECT_EQ(json.at("window_ns"), 5'000'000);
  findings.verdict = "unusable";
  EXPECT_THAT(render_text(trace_document(findings), {.width = 150}), Not(HasSubstr("mean of")));
}

FileFindings layers_and_power() {
  FileFindings findings{.path = "x.json", .format = "trtexec-profile", .verdict = "usable"};
  OpTable table{.title = "layers"};
  for (int i = 0; i < 30; ++i) {
    OpTable::Row row{.record = {.name = "layer" + std::to_string(i)}, .kind = "Convolution"};
    row.record.duration = Nanoseconds{1000 * (i + 1)};
    row.record.precision_path = Precision::kFp16;
    row.figures.push_back({.name = "median", .value = "0.5", .unit = "ms"});
    table.rows.push_back(row);
  }
  findings.op_tables.push_back(table);
  findings.telemetry = TelemetryLog{};
  findings.telemetry->has_time_of_day = true;
  findings.telemetry->series.push_back({.quantity = "power",
                                        .source = "gpu0",
                                        .device = "",
                                        .unit = Unit::kWatts,
                                        .at_ns = {1'796'000'000'000'000'000, 1'796'000'002'000'000'000},
                                        .values = {70, 90}});
  return findings;
}

TEST(FileView, ShowsTheLargestOpsFirstAndAllInJson) {
  const Document document = file_document(layers_and_power(), "deepgap.trace/1");
  const std::string text = render_text(document, {});
  EXPECT_THAT(text, AllOf(HasSubstr("Usable: nothing was lost"), HasSubstr("1 table of 30 ops, 1"),
                          HasSubstr("layers: 20 of 30, mean of one inference"), HasSubstr("layer29"),
                          Not(HasSubstr("layer9 ")), HasSubstr("fp16"), HasSubstr("0.5 ms")));
  EXPECT_LT(text.find("layer29"), text.find("layer28"));
  EXPECT_THAT(text,
              AllOf(HasSubstr("power"), HasSubstr("From 2026-11-30T00:53:20Z to 2026-11-30T00:53:22Z")));
  const nlohmann::json json = json_of_document(document);
  EXPECT_EQ(json.at("schema"), "deepgap.trace/1");
  EXPECT_EQ(json.at("quality").at("verdict"), "usable");
  EXPECT_EQ(json.at("op_tables").at(0).at("rows").size(), 30U);
  EXPECT_EQ(json.at("op_tables").at(0).at("rows").at(29).at("duration_ns"), 30'000);
  EXPECT_EQ(json.at("op_tables").at(0).at("rows").at(0).at("precision_path"), "fp16");
  EXPECT_EQ(json.at("telemetry").at(0).at("max"), 90);
}

TEST(FileView, OpsWithoutTimesStayInTheirOrder) {
  FileFindings findings = layers_and_power();
  findings.op_tables[0].timed = false;
  const std::string text = render_text(file_document(findings, "deepgap.show/1"), {});
  EXPECT_LT(text.find("layer0"), text.find("layer1"));
  EXPECT_THAT(text, Not(HasSubstr("mean of one")));
  const nlohmann::json json = json_of_document(file_document(findings, "deepgap.show/1"));
  EXPECT_FALSE(json.at("op_tables").at(0).at("rows").at(0).contains("duration_ns"));
}

TEST(TraceView, OpsByTheTimeThatTheDeviceComputedForThem) {
  TraceFindings findings{.path = "a.json", .format = "kineto", .verdict = "usable"};
  findings.device = 0;
  findings.step_basis = "whole_trace";
  findings.steps = {{.name = "trace", .wall_ns = 10'000'000, .labels = {{"kernel", 8'000'000}}}};
  findings.averaged = {0};
  TraceFindings::Op linear{.name = "aten::linear", .kind = "op", .op_class = "matmul"};
  linear.shapes = {{16, 256, 3072}, {768, 3072}, {}};
  linear.dtypes = {"float32", "float32", "float32"};
  linear.module_path = "Net_0.Linear_0";
  linear.count = 12;
  linear.kernels = 24;
  linear.total_ns = linear.charge_ns = 4'000'000;
  linear.flops = 1'200'000'000'000;
  linear.bytes = 34;
  linear.precision_path = "tf32";
  linear.main_kernel = "gemm";
  linear.family = "gemm";
  TraceFindings::Op other_module = linear;
  other_module.module_path = "Net_0.Linear_1";
  other_module.total_ns = other_module.charge_ns = 2'000'000;
  TraceFindings::Op kernel{.name =
                               "void at::native::(anonymous namespace)::softmax_warp_forward<float, "
                               "(anonymous namespace)::X>(int)",
                           .kind = "kernel",
                           .count = 0.5};
  kernel.total_ns = kernel.charge_ns = 1'500'000;
  kernel.family = "softmax";
  const TraceFindings::Op small{
      .name = "aten::add", .kind = "op", .count = 1, .total_ns = 500'000, .charge_ns = 500'000};
  const TraceFindings::Op view{.name = "aten::view", .kind = "op", .count = 3, .host_ns = 9};
  findings.ops = {linear, other_module, kernel, small, view};
  findings.ops_shown = 2;
  const std::string text = render_text(trace_document(findings), {.width = 100});
  // 6 ms for two modules of 1.2 TFLOP each; a kernel without an op by its bare name; the rest in one line.
  EXPECT_THAT(text, ContainsRegex("linear +16x256x3072 768x3072 1 +24 +6 +60 +tf32 +400 +gemm\n"));
  EXPECT_THAT(text, ContainsRegex("softmax_warp_forward +0.5 +1.5 +15 +- +softmax\n"));
  EXPECT_THAT(text, ContainsRegex("1 other +0.5 +5\n"));
  EXPECT_THAT(text, Not(HasSubstr("view")));
  const nlohmann::json ops = json_of_document(trace_document(findings)).at("ops");
  ASSERT_EQ(ops.size(), 5U);
  EXPECT_EQ(ops[0].at("name"), "aten::linear");
  EXPECT_EQ(ops[0].at("shapes"), nlohmann::json::parse("[[16, 256, 3072], [768, 3072], []]"));
  EXPECT_EQ(ops[0].at("module_path"), "Net_0.Linear_0");
  EXPECT_EQ(ops[0].at("count"), 12);
  EXPECT_EQ(ops[0].at("total_ns"), 4'000'000);
  EXPECT_EQ(ops[0].at("charge_ns"), 4'000'000);
  EXPECT_EQ(ops[0].at("flops"), 1'200'000'000'000);
  EXPECT_EQ(ops[0].at("bytes"), 34);
  EXPECT_EQ(ops[0].at("precision_path"), "tf32");
  EXPECT_EQ(ops[0].at("kernels"), 24);
  EXPECT_FALSE(ops[2].contains("flops"));
  EXPECT_EQ(ops[2].at("count"), 0.5);
  findings.ops_shown = 0;
  EXPECT_THAT(render_text(trace_document(findings), {.width = 100}), Not(HasSubstr("by op")));
}

TraceFindings waiting() {
  TraceFindings findings{.path = "a.json", .format = "kineto", .verdict = "usable"};
  findings.devices = {{.id = 1, .name = "GPU", .compute_capability = "7.5"}};
  findings.device = 1;
  findings.working_devices = {0, 1};
  findings.step_basis = "profiler_steps";
  findings.label_words = {{"kernel", "computes", ""}, {"launch", "waits for the next launch", "graphs"}};
  findings.steps = {{.name = "s0",
                     .wall_ns = 9'000'000,
                     .labels = {{"kernel", 3'000'000}, {"idle_host_launch", 6'000'000}}},
                    {.name = "s1",
                     .wall_ns = 11'000'000,
                     .labels = {{"kernel", 3'000'000}, {"idle_host_launch", 8'000'000}}}};
  findings.averaged = {0, 1};
  findings.mean_half_width_ns = 2e6;
  TraceFindings::Op linear{.name = "aten::linear", .kind = "op", .count = 2};
  linear.charge_ns = linear.total_ns = 2'500'000;
  linear.launch_wait_ns = 1'000'000;
  linear.precision_path = "fp32";
  linear.family = "gemm";
  TraceFindings::Op norm{.name = "aten::batch_norm", .kind = "op", .count = 5};
  norm.charge_ns = 500'000;
  norm.launch_wait_ns = 6'000'000;
  findings.ops = {linear, norm};
  return findings;
}

TEST(TraceView, AnswersInWordsFirst) {
  TraceFindings findings = waiting();
  findings.unprofiled_ns = 8'000'000;
  const std::string text = render_text(trace_document(findings), {.width = 1000});
  EXPECT_THAT(text,
              HasSubstr("Of 2 devices with work the times below are of device 1 (another: --device N)."));
  EXPECT_THAT(
      text, HasSubstr("A step takes 10 ms (mean of 2, from 9 ms to 11 ms; 95 % interval of the mean +-2 ms): "
                      "the device computes for 30 % of it (linear 25 %, batch_norm 5 %); for 70 % it waits "
                      "for the next launch (mostly batch_norm)."));
  EXPECT_THAT(
      text,
      HasSubstr("To try: graphs; products in FP32 take 25 % of a step, and matrix units do them in FP16"));
  EXPECT_THAT(text, HasSubstr("Without the profiler a step takes 8 ms: 1.25 times as long in the trace."));
  // What is waited for most comes first.
  EXPECT_LT(text.find("batch_norm   "), text.find("linear   "));
  const nlohmann::json json = json_of_document(trace_document(findings));
  EXPECT_EQ(json.at("mean").at("steps"), nlohmann::json::parse("[0, 1]"));
  EXPECT_EQ(json.at("mean").at("wall_ns"), 10'000'000);
  EXPECT_EQ(json.at("mean").at("upper_ns"), 12'000'000);
  EXPECT_EQ(json.at("mean").at("labels").at(1).at("ns"), 7'000'000);
  EXPECT_EQ(json.at("ops").at(1).at("launch_wait_ns"), 6'000'000);
}

TEST(TraceView, HalfMultipliedInFloatIsNoFallback) {
  TraceFindings findings = waiting();
  findings.ops[0].dtypes = {"bfloat16"};
  const std::string text = render_text(trace_document(findings), {.width = 1000});
  EXPECT_THAT(text, AllOf(HasSubstr("fp32 of bf16"), Not(HasSubstr("products in FP32"))));
}

TEST(TraceView, OfManyStepsThoseThatStandOut) {
  TraceFindings findings = waiting();
  findings.steps.resize(100, findings.steps[0]);
  for (std::size_t i = 0; i < findings.steps.size(); ++i) findings.steps[i].name = "s" + std::to_string(i);
  findings.steps[40].wall_ns *= 2;
  findings.steps[60].broken = true;
  const std::string text = render_text(trace_document(findings), {.width = 100});
  EXPECT_THAT(text, AllOf(HasSubstr("Steps: 12 of 100"), HasSubstr("\ns40 "), HasSubstr("\ns60 ")));
}

TEST(DiagnosticText, SaysHowOftenOnce) {
  EXPECT_EQ(diagnostic_text({.text = "3 kernels of 0 ns", .count = 3}), "3 kernels of 0 ns");
  EXPECT_EQ(diagnostic_text({.where = "s1", .text = "of 30", .count = 3}), "s1: of 30 (3 times)");
  EXPECT_EQ(diagnostic_text({.text = "one", .count = 1}), "one");
}

}  // namespace
}  // namespace deepgap::report
