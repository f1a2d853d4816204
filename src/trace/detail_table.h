// Small values, each once, by number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace deepgap::trace {

template <typename T>
class DetailTable {
  static_assert(std::has_unique_object_representations_v<T>, "its bytes are its value");

 public:
  std::uint32_t id_of(const T& value) {
    const std::string_view bytes(reinterpret_cast<const char*>(&value), sizeof(T));
    if (!values_.empty() && values_[last_] == value) return last_;  // most repeat the one before
    const auto [found, fresh] =
        ids_.try_emplace(std::string(bytes), static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return last_ = found->second;
  }
  const T& operator[](std::uint32_t id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<T> values_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::uint32_t last_ = 0;
};

}  // namespace deepgap::trace
