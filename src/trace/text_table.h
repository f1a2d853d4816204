// Texts, each once: a trace has a million events and some hundred different names.
//
//   TextTable texts;
//   std::uint32_t id = texts.id_of("aten::conv2d");      // the same for the same text
//   texts[id]                                           // "aten::conv2d"
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace deepgap::trace {

class TextTable {
 public:
  TextTable() { id_of(""); }
  TextTable(const TextTable&) = delete;  // ids_ looks into texts_
  TextTable& operator=(const TextTable&) = delete;
  TextTable(TextTable&&) = default;
  TextTable& operator=(TextTable&&) = default;

  // Ids count from 0, which is "". The text is copied.
  std::uint32_t id_of(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) return found->second;
    const auto id = static_cast<std::uint32_t>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  std::string_view operator[](std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // which stay where they are
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace deepgap::trace
