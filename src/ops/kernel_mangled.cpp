#include "ops/kernel_mangled.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "ops/kernel_text.h"

namespace deepgap::ops {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

struct Builtin {
  char code;
  std::string_view name;
};

constexpr std::array<Builtin, 16> kBuiltins{{{'a', "signed char"},
                                             {'b', "bool"},
                                             {'c', "char"},
                                             {'d', "double"},
                                             {'e', "long double"},
                                             {'f', "float"},
                                             {'h', "unsigned char"},
                                             {'i', "int"},
                                             {'j', "unsigned int"},
                                             {'l', "long"},
                                             {'m', "unsigned long"},
                                             {'s', "short"},
                                             {'t', "unsigned short"},
                                             {'x', "long long"},
                                             {'y', "unsigned long long"},
                                             {'v', ""}}};

// One pass over the mangled text with a stack of what is open.
class Speller {
 public:
  explicit Speller(std::string_view mangled) : text_(mangled) {}

  std::string spell() {
    at_ = 2;  // "_Z"
    while (at_ < text_.size() && !finished_) step();
    return std::move(out_);
  }

 private:
  enum class Open : char { kNested, kTemplate, kLambda, kLiteral, kLocal, kLocalParameters, kOther };
  struct Frame {
    Open open;
    bool filled = false;  // it holds an item already: the next one is set off
  };

  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool in(Open open) const { return !stack_.empty() && stack_.back().open == open; }

  // A new member of a list begins, unless it goes on a name.
  void begin_item() {
    if (stack_.empty() || scoped_) return;
    Frame& top = stack_.back();
    const bool list = top.open == Open::kTemplate || top.open == Open::kLambda ||
                      top.open == Open::kLocalParameters || top.open == Open::kOther;
    if (list && top.filled) out_ += ", ";
    top.filled = true;
  }

  void open(Open what) { stack_.push_back({what}); }

  void step() {
    const char c = text_[at_];
    if (is_digit(c)) return identifier();
    switch (c) {
      case 'N':
        begin_item();
        open(Open::kNested);
        stack_.back().filled = scoped_;  // of the function before it
        ++at_;
        while (here() == 'K' || here() == 'V' || here() == 'r' || here() == 'R' || here() == 'O') ++at_;
        scoped_ = false;
        return;
      case 'I':
        open(Open::kTemplate);
        out_ += '<';
        scoped_ = false;
        ++at_;
        return;
      case 'J':
      case 'X':
      case 'F':
        begin_item();
        open(Open::kOther);
        ++at_;
        return;
      case 'E':
        ++at_;
        return close();
      case 'L':
        begin_item();
        open(Open::kLiteral);
        ++at_;
        if (here() >= 'a' && here() <= 'z') {
          ++at_;
          literal_value();
        }
        return;
      case 'S':
        return substitution();
      case 'T':
        begin_item();
        ++at_;
        skip_number();
        return;
      case 'Z':
        begin_item();
        open(Open::kLocal);
        ++at_;
        return;
      case 'U':
        return unnamed();
      case 'D':
        return extended_type();
      case 'P':
      case 'R':
      case 'O':
      case 'K':
      case 'V':
      case '_':
        ++at_;
        return;
      default:
        return letter();
    }
  }

  void identifier() {
    std::size_t length = 0;
    while (is_digit(here())) {
      length = std::min(length * 10 + static_cast<std::size_t>(here() - '0'), text_.size());
      ++at_;
    }
    std::string_view name = text_.substr(at_, length);
    at_ += name.size();
    if (in(Open::kNested)) {
      if (stack_.back().filled) out_ += "::";
      stack_.back().filled = true;
    } else {
      begin_item();
    }
    if (scoped_) out_ += "::";
    scoped_ = false;
    out_ += name.starts_with("_GLOBAL__N") ? kAnonymous : name;
    after_name();
  }

  // A name has ended unless template arguments follow: parameters of a function may.
  void after_name() {
    if (here() == 'I') return;
    if (in(Open::kLiteral)) return literal_value();
    if (in(Open::kLocal)) {
      stack_.back() = {Open::kLocalParameters};
      out_ += '(';
    } else if (stack_.empty()) {
      finished_ = true;  // the kernel's own parameters are not read
    }
  }

  void literal_value() {
    const bool negative = here() == 'n';
    if (negative) {
      out_ += '-';
      ++at_;
    }
    while (is_digit(here())) out_ += text_[at_++];
    if (here() == 'E') ++at_;
    if (in(Open::kLiteral)) stack_.pop_back();
  }

  void close() {
    if (stack_.empty()) {
      finished_ = true;
      return;
    }
    const Open closed = stack_.back().open;
    stack_.pop_back();
    scoped_ = false;
    switch (closed) {
      case Open::kTemplate:
        out_ += '>';
        if (!in(Open::kNested)) after_name();
        return;
      case Open::kNested:
        return after_name();
      case Open::kLambda:
        out_ += ")}";
        skip_number();
        return;
      case Open::kLocalParameters:
        out_ += ')';
        scoped_ = true;
        return;
      case Open::kLocal:
        scoped_ = true;
        return;
      case Open::kLiteral:
      case Open::kOther:
        return;
    }
  }

  // "_", "0_", "1A_"
  void skip_number() {
    while (is_digit(here()) || (here() >= 'A' && here() <= 'Z')) ++at_;
    if (here() == '_') ++at_;
  }

  void substitution() {
    ++at_;
    if (here() == 't') {
      begin_item();
      out_ += "std";
      if (in(Open::kNested)) {
        stack_.back().filled = true;
      } else {
        scoped_ = true;
      }
      ++at_;
      return;
    }
    if (!in(Open::kNested)) begin_item();
    if (here() >= 'a' && here() <= 'z') {
      ++at_;
    } else {
      skip_number();
    }
    // "S1_I...E": the name of a template, which is left out, and its arguments.
    if (here() != 'I' && in(Open::kLocal)) after_name();
  }

  void unnamed() {
    ++at_;
    if (here() == 'l') {
      ++at_;
      if (in(Open::kNested)) {
        if (stack_.back().filled) out_ += "::";
        stack_.back().filled = true;
      } else if (scoped_) {
        out_ += "::";
      } else {
        begin_item();
      }
      scoped_ = false;
      out_ += "{lambda(";
      open(Open::kLambda);
    } else if (here() == 't') {
      ++at_;
      skip_number();
    }
  }

  void extended_type() {
    const std::string_view rest = text_.substr(at_);
    begin_item();
    if (rest.starts_with("DF16b")) {
      out_ += "__bf16";
      at_ += 5;
    } else if (rest.starts_with("DF16_")) {
      out_ += "_Float16";
      at_ += 5;
    } else if (rest.starts_with("Dh")) {
      out_ += "half";
      at_ += 2;
    } else {
      at_ += std::min<std::size_t>(2, rest.size());
    }
  }

  void letter() {
    const char c = text_[at_];
    if (in(Open::kNested)) {  // constructors and operators: two letters
      at_ = std::min(at_ + 2, text_.size());
      out_ += "::operator";
      return;
    }
    ++at_;
    for (const Builtin& builtin : kBuiltins) {
      if (builtin.code != c) continue;
      if (builtin.name.empty()) return;
      begin_item();
      out_ += builtin.name;
      return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Frame> stack_;
  bool scoped_ = false;  // what comes next goes on after "::"
  bool finished_ = false;
  std::string out_;
};

}  // namespace

bool is_mangled(std::string_view name) {
  return name.starts_with("_Z") && name.size() > 3 && (is_digit(name[2]) || name[2] == 'N' || name[2] == 'S');
}

std::string spell_out(std::string_view mangled) {
  return Speller(mangled).spell();
}

}  // namespace deepgap::ops
