#include "ops/kernel_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace deepgap::ops {
namespace {

constexpr std::array<std::pair<std::string_view, NamePart>, 5> kParts{{{"name", NamePart::kName},
                                                                       {"name_starts", NamePart::kNameStarts},
                                                                       {"name_has", NamePart::kNameHas},
                                                                       {"in", NamePart::kScope},
                                                                       {"text", NamePart::kText}}};

constexpr std::array<std::pair<std::string_view, KernelGrammar>, 9> kGrammars{
    {{"types", KernelGrammar::kTypes},
     {"words", KernelGrammar::kWords},
     {"xmma", KernelGrammar::kXmma},
     {"blas", KernelGrammar::kBlas},
     {"cutlass", KernelGrammar::kCutlass},
     {"nvjet", KernelGrammar::kNvjet},
     {"tensile", KernelGrammar::kTensile},
     {"triton", KernelGrammar::kTriton},
     {"none", KernelGrammar::kNone}}};

template <typename Value, std::size_t kCount>
const Value* find(const std::array<std::pair<std::string_view, Value>, kCount>& names,
                  std::string_view name) {
  const auto found =
      std::find_if(names.begin(), names.end(), [name](const auto& entry) { return entry.first == name; });
  return found == names.end() ? nullptr : &found->second;
}

std::optional<KernelFamily> parse_family(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(KernelFamily::kUnknown); ++i) {
    const auto family = static_cast<KernelFamily>(i);
    if (name_of(family) == name) return family;
  }
  return std::nullopt;
}

class TableReader {
 public:
  explicit TableReader(const KernelNamesFile& file) : file_(file.name), text_(file.text) {}

  Result<std::vector<KernelPattern>> read() {
    while (skip_blank(), at_ < text_.size()) {
      if (take("[[library]]")) {
        section_ = {};
        continue;
      }
      DEEPGAP_ASSIGN(const std::string key, read_key());
      if (key == "patterns") {
        if (!take("[")) return expected("'[' after patterns =");
        while (!take("]")) {
          DEEPGAP_ASSIGN(KernelPattern pattern, read_pattern());
          table_.push_back(std::move(pattern));
          if (!take(",") && !next_is(']')) return expected("',' or ']' after a pattern");
        }
        continue;
      }
      DEEPGAP_ASSIGN(const std::string value, read_text());
      if (key == "name") {
        section_.library = value;
      } else if (key == "origin") {
        section_.origin = value;
      } else {
        return expected("name, origin or patterns in a [[library]], found '" + printable(key, 40) + "'");
      }
    }
    if (table_.empty()) return expected("at least one pattern");
    return std::move(table_);
  }

 private:
  Error expected(const std::string& what) const { return bad_input(place() + ": expected " + what); }
  // "vendors.toml line 12"
  std::string place() const {
    const std::string_view before = text_.substr(0, at_);
    return std::string(file_) + " line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
  }

  void skip_blank() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t') {
        ++at_;
      } else {
        return;
      }
    }
  }
  bool take(std::string_view what) {
    skip_blank();
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  bool next_is(char c) {
    skip_blank();
    return at_ < text_.size() && text_[at_] == c;
  }

  // "key ="
  Result<std::string> read_key() {
    skip_blank();
    const std::size_t from = at_;
    while (at_ < text_.size() && ((text_[at_] >= 'a' && text_[at_] <= 'z') || text_[at_] == '_')) ++at_;
    const std::string key(text_.substr(from, at_ - from));
    if (key.empty()) return expected("a key in small letters");
    if (!take("=")) return expected("'=' after '" + printable(key, 40) + "'");
    return key;
  }

  Result<std::string> read_text() {
    if (!take("\"")) return expected("a text in quotation marks");
    const std::size_t end = text_.find_first_of("\"\\\n", at_);
    if (end == std::string_view::npos || text_[end] != '"') {
      return expected("a text on one line, without backslashes");
    }
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  // "text" or ["text", "text"]
  Result<std::vector<std::string>> read_texts() {
    std::vector<std::string> texts;
    if (!take("[")) {
      DEEPGAP_ASSIGN(std::string text, read_text());
      texts.push_back(std::move(text));
      return texts;
    }
    while (!take("]")) {
      DEEPGAP_ASSIGN(std::string text, read_text());
      texts.push_back(std::move(text));
      if (!take(",") && !next_is(']')) return expected("',' or ']' in a list");
    }
    if (texts.empty()) return expected("a text in the list");
    return texts;
  }

  Result<KernelPattern> read_pattern() {
    if (!take("{")) return expected("a pattern in braces");
    KernelPattern pattern = section_;
    pattern.place = place();
    bool has_family = false;
    while (!take("}")) {
      DEEPGAP_ASSIGN(const std::string key, read_key());
      if (const NamePart* part = find(kParts, key)) {
        DEEPGAP_ASSIGN(const std::vector<std::string> texts, read_texts());
        KernelCondition condition{*part, {}};
        for (const std::string& text : texts) {
          std::vector<std::string> pieces;
          for (const std::string& piece : split(text, '&')) pieces.emplace_back(trim(piece));
          if (std::find(pieces.begin(), pieces.end(), "") != pieces.end())
            return expected("no empty part in a pattern");
          condition.alternatives.push_back(std::move(pieces));
        }
        pattern.conditions.push_back(std::move(condition));
      } else {
        DEEPGAP_ASSIGN(const std::string value, read_text());
        if (!set(pattern, key, value)) {
          return expected("a known key and value, found " + printable(key, 40) + " = \"" +
                          printable(value, 40) + "\"");
        }
        has_family = has_family || key == "family";
      }
      if (!take(",") && !next_is('}')) return expected("',' or '}' in a pattern");
    }
    if (!has_family || pattern.conditions.empty())
      return expected("a family and a condition in each pattern");
    return pattern;
  }

  static bool set(KernelPattern& pattern, std::string_view key, const std::string& value) {
    if (key == "family") {
      const std::optional<KernelFamily> family = parse_family(value);
      if (family) pattern.family = *family;
      return family.has_value();
    }
    if (key == "library") return pattern.library = value, true;
    if (key == "origin") return pattern.origin = value, !value.empty();
    if (key == "precision") return (pattern.precision = parse_precision(value)).has_value();
    if (key == "accumulation") return (pattern.accumulation = parse_precision(value)).has_value();
    if (key == "tensor_cores") return pattern.tensor_cores = value == "yes";
    if (key == "read") {
      const KernelGrammar* grammar = find(kGrammars, value);
      if (grammar != nullptr) pattern.grammar = *grammar;
      return grammar != nullptr;
    }
    if (key != "element" && key != "accumulate") return false;
    if (value.size() != 1 || value[0] < '1' || value[0] > '9') return false;
    (key == "element" ? pattern.element : pattern.accumulate) = value[0] - '0';
    return true;
  }

  std::string_view file_;
  std::string_view text_;
  std::size_t at_ = 0;
  KernelPattern section_;
  std::vector<KernelPattern> table_;
};

bool holds(const KernelCondition& condition, const KernelText& name) {
  const std::string_view subject = condition.part == NamePart::kText    ? name.text
                                   : condition.part == NamePart::kScope ? std::string_view(name.qualified)
                                                                        : name.name;
  return std::any_of(condition.alternatives.begin(), condition.alternatives.end(), [&](const auto& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const bool fits = i == 0 && condition.part == NamePart::kName ? subject == pieces[i]
                        : i == 0 && condition.part == NamePart::kNameStarts
                            ? subject.starts_with(pieces[i])
                            : subject.find(pieces[i]) != std::string_view::npos;
      if (!fits) return false;
    }
    return true;
  });
}

}  // namespace

Result<std::vector<KernelPattern>> read_kernel_table(std::span<const KernelNamesFile> files) {
  std::vector<KernelPattern> table;
  for (const KernelNamesFile& file : files) {
    DEEPGAP_ASSIGN(std::vector<KernelPattern> part, TableReader(file).read());
    std::move(part.begin(), part.end(), std::back_inserter(table));
  }
  return table;
}

std::span<const KernelPattern> kernel_table() {
  // Never malformed: a test reads the text that was compiled in. If it were, all names would be unknown.
  static const std::vector<KernelPattern> kTable = [] {
    Result<std::vector<KernelPattern>> read = read_kernel_table(kernel_names_files());
    return read ? std::move(read).value() : std::vector<KernelPattern>{};
  }();
  return kTable;
}

const KernelPattern* first_match(std::span<const KernelPattern> table, const KernelText& name) {
  for (const KernelPattern& pattern : table) {
    if (std::all_of(pattern.conditions.begin(), pattern.conditions.end(),
                    [&](const KernelCondition& condition) { return holds(condition, name); })) {
      return &pattern;
    }
  }
  return nullptr;
}

}  // namespace deepgap::ops
