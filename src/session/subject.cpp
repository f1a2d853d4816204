#include "session/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace deepgap::session {
namespace {

constexpr std::string_view kShape =
    "expected a file, the id of a measurement (hexadecimal digits, as `deepgap list` shows it) or a selector "
    "such as "
    "resnet50/openvino/cpu/fp32/b8";

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 16 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

bool is_file_subject(const std::string& text) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(text, ignored);
}

Result<Subject> resolve_subject(const std::string& text, store::Store* store) {
  if (is_file_subject(text)) return Subject(FileSubject{text});
  if (is_id(text) && store != nullptr) {
    DEEPGAP_ASSIGN(MeasurementId id, store->resolve_prefix(text));
    return Subject(std::move(id));
  }
  if (text == "*" || Selector::looks_like(text)) {
    DEEPGAP_ASSIGN(Selector selector, Selector::parse(text));
    return Subject(std::move(selector));
  }
  return usage_error(
      fmt::format("'{}': {}; there is no such file and it is neither", printable(text), kShape));
}

Result<MeasurementId> resolve_one(const std::string& text, store::Store& store) {
  DEEPGAP_ASSIGN(const Subject subject, resolve_subject(text, &store));
  if (const auto* file = std::get_if<FileSubject>(&subject)) {
    return usage_error(
        fmt::format("'{}' is a file: expected a stored measurement here (an id or a selector); `deepgap "
                    "show` looks into a "
                    "file, `deepgap import` stores what it holds",
                    printable(file->path)));
  }
  if (const auto* id = std::get_if<MeasurementId>(&subject)) return *id;
  DEEPGAP_ASSIGN(const std::optional<MeasurementId> newest,
                 store.newest({.selector = std::get<Selector>(subject)}));
  if (!newest) {
    return usage_error(fmt::format("no stored cell matches '{}' in {}: `deepgap list` shows what there is",
                                   printable(text), printable(store.path())));
  }
  return *newest;
}

}  // namespace deepgap::session
