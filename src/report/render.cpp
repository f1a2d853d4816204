#include "report/render.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace deepgap::report {
namespace {

constexpr std::string_view kFormatNames[] = {"text", "md", "csv", "json", "perfetto"};
constexpr Format kFormats[] = {Format::kText, Format::kMarkdown, Format::kCsv, Format::kJson,
                               Format::kPerfetto};

}  // namespace

std::string_view name_of(Format format) {
  return kFormatNames[static_cast<std::size_t>(format)];
}

std::optional<Format> parse_format(std::string_view name) {
  if (name == "markdown") return Format::kMarkdown;
  for (const Format format : kFormats) {
    if (name_of(format) == name) return format;
  }
  return std::nullopt;
}

std::span<const std::string_view> format_names() {
  return kFormatNames;
}

std::string render(const Document& document, Format format, const RenderOptions& options) {
  switch (format) {
    case Format::kText:
      return render_text(document, options);
    case Format::kMarkdown:
      return render_markdown(document);
    case Format::kCsv:
      return render_csv(document);
    case Format::kJson:
      return render_json(document, options.version);
    case Format::kPerfetto:
      break;
  }
  return {};
}

std::string render_json(const Document& document, std::string_view version) {
  nlohmann::ordered_json json;
  json["schema"] = document.schema;
  json["deepgap_version"] = version;
  if (document.data) json.update(document.data());
  // Text from foreign files may hold invalid UTF-8, which is replaced, never thrown at the user, and marks
  // that steer a terminal: in ASCII these are escaped, and mean the same.
  return json.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

namespace {

// " -0.7/+0.8 %"
std::string relative_bounds(const Estimate& estimate) {
  const auto percent = [&estimate](const std::optional<double>& bound) {
    if (!bound || !(std::abs(estimate.value) > 0)) return std::string("?");
    return format_number(std::abs(*bound - estimate.value) / std::abs(estimate.value) * 100, 2);
  };
  return " -" + percent(estimate.lower) + "/+" + percent(estimate.upper) + " %";
}

}  // namespace

std::string cell_text(const Cell& cell, const Column& column) {
  const auto number = [&column](double value) {
    return format_number(value / column.scale.divisor, column.scale.digits);
  };
  if (const auto* text = std::get_if<std::string>(&cell)) return text->empty() ? "-" : *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return column.scale.divisor == 1 ? std::to_string(*whole) : number(static_cast<double>(*whole));
  }
  if (const auto* real = std::get_if<double>(&cell)) return number(*real);
  if (const auto* estimate = std::get_if<Estimate>(&cell)) {
    if (column.bounds == Bounds::kNone) return number(estimate->value);
    if (column.bounds == Bounds::kRelative) return number(estimate->value) + relative_bounds(*estimate);
    const std::string lower = estimate->lower ? number(*estimate->lower) : "-";
    const std::string upper = estimate->upper ? number(*estimate->upper) : "-";
    return number(estimate->value) + " [" + lower + ", " + upper + "]";
  }
  return "-";
}

}  // namespace deepgap::report
