#include "report/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_of.h"

namespace deepgap::report {
namespace {

using ::testing::HasSubstr;

Estimate estimate(double value, std::optional<double> lower, std::optional<double> upper) {
  return {
      .value = value, .lower = lower, .upper = upper, .n = 40, .unit = Unit::kNanoseconds, .method = "test"};
}

Table sample_table() {
  Table table{.title = "Cells"};
  table.columns = {{.id = "model", .title = "model"},
                   {.id = "batch", .title = "batch", .align = Align::kRight},
                   {.id = "latency",
                    .title = "latency",
                    .align = Align::kRight,
                    .scale = milliseconds(),
                    .bounds = Bounds::kAbsolute},
                   {.id = "p99", .title = "p99", .align = Align::kRight, .scale = milliseconds()}};
  table.rows = {{std::string("resnet50"), std::int64_t{8}, estimate(3214000, 3190000, 3240000), 4.5e6},
                {std::string("a,\"b\""), std::int64_t{16}, estimate(9e6, 8.5e6, std::nullopt), Cell{}}};
  return table;
}

TEST(RenderText, TablesAreAlignedWithUnitsInTheHeading) {
  Document document;
  document.add(sample_table());
  EXPECT_EQ(render_text(document, {}),
            "Cells\n"
            "model     batch          latency ms  p99 ms\n"
            "resnet50      8  3.214 [3.19, 3.24]     4.5\n"
            "a,\"b\"        16          9 [8.5, -]       -\n");
}

TEST(RenderText, ProseIsWrappedAtTheWidth) {
  Document document;
  document.add(Paragraph{"one two three four five six seven eight nine ten eleven twelve"});
  EXPECT_EQ(render_text(document, {.width = 40}),
            "one two three four five six seven eight\nnine ten eleven twelve\n");
}

TEST(RenderText, ColourOnlyWhereAskedFor) {
  Document document;
  document.add(Heading{"Title"});
  EXPECT_EQ(render_text(document, {}), "Title\n");
  EXPECT_EQ(render_text(document, {.color = true}), "\x1b[1mTitle\x1b[0m\n");
}

TEST(RenderText, HostileTextCannotSteerTheTerminal) {
  Document document;
  document.add(Paragraph{"name \x1b]0;owned\x07 end"});
  Table table;
  table.columns = {{.id = "a", .title = "a\x1b[2J"}};
  table.rows = {{std::string("x\x1b[2Jy\nz")}};
  document.add(table);
  document.add(DiagnosticList{{{.id = "x\x1b[2J", .where = "\x1b[2J", .text = "\x1b[2J"}}});
  EXPECT_EQ(render_markdown(document).find('\x1b'), std::string::npos);
  const std::string text = render_text(document, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(RenderText, DiagnosticsNameSeverityPlaceAndCount) {
  Document document;
  document.add(DiagnosticList{{{.id = "foreign_load",
                                .severity = Severity::kWarning,
                                .where = "resnet50/openvino/cpu/fp32/b8",
                                .text = "other processes used 38 % of the cores",
                                .count = 3}}});
  EXPECT_EQ(render_text(document, {.width = 200}),
            "warning foreign_load  resnet50/openvino/cpu/fp32/b8: other processes used 38 % of the cores (3 "
            "times)\n  remedy: " +
                std::string(remedy_of("foreign_load")) + "\n");
}

TEST(RenderMarkdown, TableCellsCannotBecomeMarkup) {
  Document document;
  Table table;
  table.columns = {{.id = "m", .title = "model"}, {.id = "n", .title = "n", .align = Align::kRight}};
  table.rows = {{std::string("a|b*c_d`e<f"), std::int64_t{3}}};
  document.add(table);
  EXPECT_EQ(render_markdown(document), "| model | n |\n|---|---:|\n| a\\|b\\*c\\_d\\`e\\<f | 3 |\n");
}

TEST(RenderCsv, UnitsInNamesIntervalsAsColumnsUnknownEmpty) {
  Document document;
  document.add(Paragraph{"prose is not in CSV"}).add(sample_table());
  Table reader_only = sample_table();
  reader_only.machine = false;
  document.add(reader_only);
  EXPECT_EQ(render_csv(document),
            "model,batch,latency_ms,latency_ms_lower,latency_ms_upper,p99_ms\n"
            "resnet50,8,3.214,3.19,3.24,4.5\n"
            "\"a,\"\"b\"\"\",16,9,8.5,,\n");
}

TEST(RenderJson, SchemaVersionThenData) {
  Document document{.schema = "deepgap.list/1"};
  document.data = ready(Json{{"cells", Json::array()}});
  EXPECT_EQ(render_json(document, "1.2.3"),
            "{\n  \"schema\": \"deepgap.list/1\",\n  \"deepgap_version\": \"1.2.3\",\n  \"cells\": []\n}\n");
}

TEST(RenderJson, InvalidUtf8IsReplacedAndDoesNotThrow) {
  Document document{.schema = "deepgap.show/1"};
  document.data = ready(Json{{"name", std::string("bad \xff byte")}});
  const auto parsed = nlohmann::json::parse(render_json(document, "1"));
  EXPECT_EQ(parsed.at("name").get<std::string>(), "bad \xEF\xBF\xBD byte");
}

TEST(RenderJson, MarksThatSteerATerminalAreEscapedAndMeanTheSame) {
  const std::string name = "a\u009bb\u202ec\u00fc\U0001f600";
  Document document{.schema = "deepgap.show/1"};
  document.data = ready(Json{{"name", name}});
  const std::string text = render_json(document, "1");
  EXPECT_THAT(text, HasSubstr("a\\u009bb\\u202ec"));
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (c >= ' ' && c <= '~');
  })) << text;
  EXPECT_EQ(nlohmann::json::parse(text).at("name").get<std::string>(), name);
}

TEST(JsonOf, EstimateLeavesOutBoundsThatTheSampleCannotGive) {
  const Json json = json_of(estimate(3214000.4, 3190000, std::nullopt));
  EXPECT_EQ(json.dump(),
            R"({"value":3214000,"lower":3190000,"confidence":0.95,"n":40,"unit":"ns","method":"test"})");
}

TEST(JsonOf, SettingsAreRequestedAndEffective) {
  const Setting rows[] = {{.name = "cpu.threads", .requested = "4", .effective = "2"},
                          {.name = "host.name", .effective = "x"}};
  EXPECT_EQ(json_of_settings(rows).dump(),
            R"({"requested":{"cpu.threads":"4"},"effective":{"cpu.threads":"2","host.name":"x"}})");
}

TEST(Format, NamesReadBack) {
  for (const std::string_view name : format_names()) EXPECT_EQ(name_of(*parse_format(name)), name);
  EXPECT_FALSE(parse_format("xml").has_value());
}

}  // namespace
}  // namespace deepgap::report
