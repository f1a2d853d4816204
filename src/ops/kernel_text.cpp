#include "ops/kernel_text.h"

#include "base/text.h"

namespace deepgap::ops {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kUnnamed = "<unnamed>";  // as Nsight has it

bool starts_at(std::string_view text, std::size_t at, std::string_view part) {
  return text.substr(at, part.size()) == part;
}

}  // namespace

KernelText take_apart(std::string_view readable) {
  KernelText parts;
  std::size_t depth = 0;        // of angle brackets
  std::size_t parentheses = 0;  // inside of them
  std::size_t name_at = 0;
  std::size_t name_end = 0;
  std::size_t arguments_at = 0;
  std::size_t at = 0;
  for (; at < readable.size(); ++at) {
    const char c = readable[at];
    if (depth == 0) {
      if (starts_at(readable, at, kAnonymous) || starts_at(readable, at, kUnnamed)) {
        at += (c == '(' ? kAnonymous.size() : kUnnamed.size()) - 1;
        continue;
      }
      if (c == '(' || (c == '[' && at > 0)) break;  // the parameters, or "[clone .kd]"
      if (c == '<') {
        depth = 1;
        parentheses = 0;
        arguments_at = at + 1;
        continue;
      }
      if (c == ' ') {  // what stood before was the return type, unless nothing more comes
        const std::size_t next = readable.find_first_not_of(' ', at);
        if (next == std::string_view::npos ||
            (readable[next] == '(' && !starts_at(readable, next, kAnonymous)) || readable[next] == '[') {
          break;
        }
        at = next - 1;
        parts.qualified.clear();
        parts.arguments = {};
        name_at = name_end = at + 1;
        continue;
      }
      parts.qualified += c;
      if (c == ':' || c == '>') {
        name_at = at + 1;
        parts.arguments = {};
      }
      name_end = at + 1;
    } else if (c == '(' || c == '{' || c == '[') {
      ++parentheses;
    } else if (c == ')' || c == '}' || c == ']') {
      if (parentheses > 0) --parentheses;
    } else if (c == '<' && parentheses == 0) {
      ++depth;
    } else if (c == '>' && parentheses == 0 && readable[at - 1] != '-') {
      if (--depth == 0) parts.arguments = readable.substr(arguments_at, at - arguments_at);
    }
  }
  parts.text = readable.substr(0, at);
  // A name that was cut inside its template arguments.
  if (depth > 0) parts.arguments = readable.substr(arguments_at);
  parts.name = readable.substr(name_at, name_end - name_at);
  if (parts.name.ends_with(".kd")) parts.name.remove_suffix(3);  // the descriptor of an AMD kernel
  return parts;
}

std::vector<std::string_view> split_arguments(std::string_view arguments) {
  std::vector<std::string_view> parts;
  std::size_t depth = 0;
  std::size_t from = 0;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if ((c == '>' || c == ')' || c == '}' || c == ']') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(arguments.substr(from, at - from)));
      from = at + 1;
    }
  }
  if (!trim(arguments).empty()) parts.push_back(trim(arguments.substr(from)));
  return parts;
}

}  // namespace deepgap::ops
