// From a Document to what is written: one function a format.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/document.h"

namespace deepgap::report {

// kPerfetto: a trace for ui.perfetto.dev, which few documents have (Document::perfetto) and render() does not
// make.
enum class Format { kText, kMarkdown, kCsv, kJson, kPerfetto };
// "text", "md", "csv", "json", "perfetto"
std::string_view name_of(Format format);
std::optional<Format> parse_format(std::string_view name);
std::span<const std::string_view> format_names();

struct RenderOptions {
  bool color = false;
  int width = 100;      // text: prose is wrapped at this many columns
  std::string version;  // deepgap's own, for JSON
};

std::string render(const Document& document, Format format, const RenderOptions& options);

// The single formats.
std::string render_text(const Document& document, const RenderOptions& options);
std::string render_markdown(const Document& document);
// The machine tables, one after the other with an empty line between; RFC 4180 quoting.
std::string render_csv(const Document& document);
std::string render_json(const Document& document, std::string_view version);

// A cell as a reader sees it.
std::string cell_text(const Cell& cell, const Column& column);

}  // namespace deepgap::report
