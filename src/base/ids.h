// Ids that do not mix: a SweepId is not a MeasurementId though both are text.
#pragma once

#include <compare>
#include <string>
#include <utility>

namespace deepgap {

template <typename Tag>
class StrongId {
 public:
  StrongId() = default;
  explicit StrongId(std::string text) : text_(std::move(text)) {}
  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const StrongId&) const = default;

 private:
  std::string text_;
};

using MeasurementId = StrongId<struct MeasurementIdTag>;  // 16 lower-case hexadecimal digits
using SweepId = StrongId<struct SweepIdTag>;              // likewise

}  // namespace deepgap
