#include "base/text.h"
#include "report/render.h"

namespace deepgap::report {
namespace {

// Text of ours or a user's inside a table cell or a sentence: nothing in it may become markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : printable(text, 20000)) {
    if (byte == '|' || byte == '*' || byte == '_' || byte == '`' || byte == '<' || byte == '\\') out += '\\';
    out += byte;
  }
  return out;
}

struct MarkdownRenderer {
  std::string out;

  void separate() {
    if (!out.empty()) out += '\n';
  }
  void operator()(const Heading& heading) {
    separate();
    out += std::string(static_cast<std::size_t>(heading.level), '#') + " " + escaped(heading.text) + "\n";
  }
  void operator()(const Paragraph& paragraph) {
    separate();
    out += escaped(paragraph.text) + "\n";
  }
  void operator()(const Code& code) {
    separate();
    for (const std::string& line : code.lines) out += "    " + printable(line, 4000) + "\n";
  }
  void operator()(const Table& table) {
    separate();
    if (!table.title.empty()) out += "**" + escaped(table.title) + "**\n\n";
    std::string rule = "|";
    out += "|";
    for (const Column& column : table.columns) {
      out += " " +
             escaped(column.scale.unit.empty() ? column.title : column.title + " " + column.scale.unit) +
             " |";
      rule += column.align == Align::kRight ? "---:|" : "---|";
    }
    out += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
      out += "|";
      for (std::size_t i = 0; i < table.columns.size(); ++i)
        out += " " + escaped(cell_text(row[i], table.columns[i])) + " |";
      out += "\n";
    }
  }
  void operator()(const Chart&) {}
  void operator()(const DiagnosticList& list) {
    if (list.diagnostics.empty()) return;
    separate();
    for (const Diagnostic& diagnostic : list.diagnostics) {
      out += "- **" + std::string(name_of(diagnostic.severity)) + "** `" + printable(diagnostic.id, 60) +
             "` " + escaped(diagnostic_text(diagnostic));
      if (const std::string_view remedy = remedy_of(diagnostic.id); !remedy.empty())
        out += " *" + escaped(remedy) + "*";
      out += "\n";
    }
  }
};

}  // namespace

std::string render_markdown(const Document& document) {
  MarkdownRenderer renderer;
  for (const Block& block : document.blocks) std::visit(renderer, block);
  return std::move(renderer.out);
}

}  // namespace deepgap::report
