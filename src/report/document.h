// What a verb has to say, before it is text, Markdown, CSV, JSON or HTML.
//
// A verb's findings become one Document: blocks for people (headings, prose, tables, commands, charts) and,
// beside them, the data of its JSON document. Renderers (report/render.h) never compute; views
// (report/views.h) never print.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file_system.h"
#include "core/diagnostic.h"
#include "core/estimate.h"

namespace deepgap::report {

struct Heading {
  std::string text;
  int level = 1;  // 1 is a section of the page
};

struct Paragraph {
  std::string text;
};

// Lines that a user may type or paste, shown as they are.
struct Code {
  std::vector<std::string> lines;
};

enum class Align { kLeft, kRight };

// How the numbers of a column are shown: divided by `divisor` and named `unit`. One column, one unit, so that
// rows compare.
struct Scale {
  double divisor = 1;
  std::string unit;  // "ms", "samples/s", ""
  int digits = 4;    // significant
};
Scale milliseconds();  // of ns
Scale samples_per_second();
Scale percent();  // of a share from 0 to 1
Scale plain(int digits = 4);

// How the bounds of a column's Estimates are shown to people: "3.214", "3.214 [3.190, 3.240]", or where
// several such columns stand beside each other "3.214 -0.7/+0.8 %". A bound that is absent is "-", or "?".
// CSV has the bounds of both latter kinds in columns of their own.
enum class Bounds { kNone, kAbsolute, kRelative };

struct Column {
  std::string id;  // in CSV, with the unit added: "latency" -> latency_ms, latency_ms_lower, latency_ms_upper
  std::string title;  // in tables
  Align align = Align::kLeft;
  Scale scale;
  Bounds bounds = Bounds::kNone;
};

// Nothing (unknown) and an empty text are "-" for people and an empty field in CSV.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, Estimate>;

// A text that is nothing for people too, where a "-" in every row would only be in the way; empty in CSV.
inline constexpr std::string_view kBlank = " ";

struct Table {
  std::string title;  // "" for none
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as wide as columns
  bool machine = true;                  // in CSV; false for tables that only help a reader
};

// Data for a figure; text renderers leave it out.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<Estimate> y;
};
struct Chart {
  std::string title, x_title, y_title;
  bool x_logarithmic = false;
  std::vector<Series> series;
};

struct DiagnosticList {
  std::vector<Diagnostic> diagnostics;
};
// Where, what and how often, unless the text says that number itself.
std::string diagnostic_text(const Diagnostic& diagnostic);

using Block = std::variant<Heading, Paragraph, Code, Table, Chart, DiagnosticList>;

struct Document {
  std::string schema;  // "deepgap.list/1"
  std::vector<Block> blocks;
  // Members of the JSON document besides schema and version; made only when asked for, since a list of many
  // cells is large in that form. Absent: none.
  std::function<nlohmann::ordered_json()> data;
  // Writes the document as a trace, piece by piece; absent: it has no such form.
  std::function<Result<void>(const ByteSink& write)> perfetto;

  template <typename T>
  Document& add(T block) {
    blocks.emplace_back(std::move(block));
    return *this;
  }
};

}  // namespace deepgap::report
