#include <fmt/format.h>

#include "report/render.h"

namespace deepgap::report {
namespace {

std::string csv_quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string out = "\"";
  for (const char byte : field) {
    if (byte == '"') out += '"';
    out += byte;
  }
  return out + "\"";
}

// The shortest text that reads back as the same double.
std::string number(double value) {
  return fmt::format("{}", value);
}

std::string unit_suffix(const Scale& scale) {
  if (scale.unit.empty()) return {};
  if (scale.unit == "samples/s") return "_per_s";
  if (scale.unit == "%") return "_percent";
  return "_" + scale.unit;
}

void write_table(const Table& table, std::string& out) {
  std::string line;
  const auto field = [&line](std::string_view text) {
    if (!line.empty()) line += ',';
    line += text;
  };
  for (const Column& column : table.columns) {
    const std::string name = column.id + unit_suffix(column.scale);
    field(csv_quoted(name));
    if (column.bounds != Bounds::kNone) {
      field(csv_quoted(name + "_lower"));
      field(csv_quoted(name + "_upper"));
    }
  }
  out += line + "\n";
  for (const auto& row : table.rows) {
    bool first = true;
    const auto put = [&](std::string_view text) {
      if (!first) out += ',';
      first = false;
      out += text;
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      const auto scaled = [&column](double value) { return number(value / column.scale.divisor); };
      const Cell& cell = row[i];
      const auto* estimate = std::get_if<Estimate>(&cell);
      if (estimate != nullptr) {
        put(scaled(estimate->value));
      } else if (const auto* text = std::get_if<std::string>(&cell)) {
        put(*text == kBlank ? std::string() : csv_quoted(*text));
      } else if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        put(column.scale.divisor == 1 ? std::to_string(*whole) : scaled(static_cast<double>(*whole)));
      } else if (const auto* real = std::get_if<double>(&cell)) {
        put(scaled(*real));
      } else {
        put("");
      }
      if (column.bounds != Bounds::kNone) {
        put(estimate != nullptr && estimate->lower ? scaled(*estimate->lower) : "");
        put(estimate != nullptr && estimate->upper ? scaled(*estimate->upper) : "");
      }
    }
    out += '\n';
  }
}

}  // namespace

std::string render_csv(const Document& document) {
  std::string out;
  for (const Block& block : document.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table == nullptr || !table->machine) continue;
    if (!out.empty()) out += '\n';
    write_table(*table, out);
  }
  return out;
}

}  // namespace deepgap::report
