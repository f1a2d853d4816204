// Text for a terminal: prose wrapped, tables aligned, colour only where asked for.
//
//   model     batch  mode     p50 ms  p99 ms  throughput samples/s
//   resnet18      1  latency   9.812   10.44  101.2 [100.1, 102.4]

#include <algorithm>

#include "base/text.h"
#include "report/render.h"

namespace deepgap::report {
namespace {

// Columns a terminal needs: code points, which holds for all that we print ourselves.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

class TextRenderer {
 public:
  explicit TextRenderer(const RenderOptions& options) : options_(options) {}

  std::string render(const Document& document) {
    for (const Block& block : document.blocks) std::visit([this](const auto& part) { write(part); }, block);
    return std::move(out_);
  }

 private:
  // A cell of a table that is being written: where its text ends, and the columns that it takes.
  struct Written {
    std::size_t end = 0;
    std::size_t width = 0;
  };

  void separate() {
    if (!out_.empty()) out_ += '\n';
  }

  void styled(std::string_view text, const char* style) {
    if (options_.color) {
      out_ += style;
      out_ += text;
      out_ += "\x1b[0m";
    } else {
      out_ += text;
    }
  }

  void write(const Heading& heading) {
    separate();
    styled(printable(heading.text), "\x1b[1m");
    out_ += '\n';
  }

  void write(const Paragraph& paragraph) {
    separate();
    wrap(printable(paragraph.text, 20000), 0);
  }

  // `column`: how far the line is written already.
  void wrap(std::string_view text, std::size_t indent, std::size_t column = 0) {
    const auto width = static_cast<std::size_t>(std::max(options_.width, 40));
    bool first = true;
    for (const std::string& word : split(text, ' ')) {
      if (word.empty()) continue;
      const std::size_t length = display_width(word);
      if (!first && column + 1 + length > width) {
        out_ += '\n';
        out_.append(indent, ' ');
        column = indent;
      } else if (!first) {
        out_ += ' ';
        ++column;
      }
      first = false;
      out_ += word;
      column += length;
    }
    out_ += '\n';
  }

  void write(const Code& code) {
    separate();
    for (const std::string& line : code.lines) out_ += "  " + printable(line, 4000) + "\n";
  }

  void write(const Table& table) {
    separate();
    if (!table.title.empty()) {
      styled(printable(table.title), "\x1b[1m");
      out_ += '\n';
    }
    // The texts of all cells one after the other; a list has a hundred thousand.
    std::string texts;
    std::vector<Written> cells;
    cells.reserve((table.rows.size() + 1) * table.columns.size());
    std::vector<std::size_t> widths(table.columns.size(), 0);
    const auto written = [&](std::size_t column) {
      const std::size_t begin = cells.empty() ? 0 : cells.back().end;
      cells.push_back({texts.size(), display_width(std::string_view(texts).substr(begin))});
      widths[column] = std::max(widths[column], cells.back().width);
    };
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      texts += printable(column.title, 200);
      if (!column.scale.unit.empty()) texts.append(" ").append(printable(column.scale.unit, 200));
      written(i);
    }
    for (const auto& row : table.rows) {
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        texts += printable(cell_text(row[i], table.columns[i]), 200);
        written(i);
      }
    }
    std::size_t begin = 0;
    for (std::size_t first = 0; first < cells.size(); first += widths.size()) {
      std::string line;
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const Written& cell = cells[first + i];
        const std::string_view text = std::string_view(texts).substr(begin, cell.end - begin);
        begin = cell.end;
        if (i > 0) line += "  ";
        const std::size_t padding = widths[i] - cell.width;
        if (table.columns[i].align == Align::kRight) {
          line.append(padding, ' ').append(text);
        } else {
          line.append(text).append(padding, ' ');
        }
      }
      line.erase(line.find_last_not_of(' ') + 1);
      if (first == 0) {
        styled(line, "\x1b[4m");
      } else {
        out_ += line;
      }
      out_ += '\n';
    }
  }

  void write(const Chart&) {}  // a figure has no text form

  void write(const DiagnosticList& list) {
    if (list.diagnostics.empty()) return;
    separate();
    for (const Diagnostic& diagnostic : list.diagnostics) {
      const char* style = diagnostic.severity == Severity::kError     ? "\x1b[31m"
                          : diagnostic.severity == Severity::kWarning ? "\x1b[33m"
                                                                      : "\x1b[2m";
      const std::string label =
          std::string(name_of(diagnostic.severity)) + " " + printable(diagnostic.id, 60);
      styled(label, style);
      out_ += "  ";
      wrap(printable(diagnostic_text(diagnostic), 2000), 2, label.size() + 2);
      if (const std::string_view remedy = remedy_of(diagnostic.id); !remedy.empty()) {
        out_ += "  ";
        wrap("remedy: " + std::string(remedy), 2, 2);
      }
    }
  }

  const RenderOptions& options_;
  std::string out_;
};

}  // namespace

std::string render_text(const Document& document, const RenderOptions& options) {
  return TextRenderer(options).render(document);
}

}  // namespace deepgap::report
