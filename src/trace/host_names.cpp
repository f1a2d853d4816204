#include "trace/host_names.h"

#include "ops/op_class.h"
#include "trace/range_names.h"

namespace deepgap::trace {
namespace {

OpWork work_of(std::string_view name, bool has_ranges) {
  if (has_ranges) {
    switch (range_kind(name)) {
      case RangeKind::kProgram:
        return OpWork::kRange;
      case RangeKind::kWrapper:
      case RangeKind::kNode:
        return OpWork::kWrapper;
      case RangeKind::kPlain:
        return OpWork::kPlain;
      case RangeKind::kNone:
        break;
    }
  }
  const ops::OpName* known = nullptr;
  for (const ops::FrontEnd front_end : ops::kAllFrontEnds) {
    known = ops::classify(front_end, name);
    if (known != nullptr) break;
  }
  if (known == nullptr) return OpWork::kUnknown;
  switch (known->op_class) {
    case ops::OpClass::kShapeOnly:
    case ops::OpClass::kControl:
      return OpWork::kNone;
    case ops::OpClass::kConstant:
    case ops::OpClass::kLayout:
    case ops::OpClass::kCopy:
    case ops::OpClass::kCast:
      return known->rule == ops::CostRule::kFree ? OpWork::kNone : OpWork::kMoves;
    default:
      return OpWork::kComputes;
  }
}

}  // namespace

HostNames::HostNames(const Timeline& timeline)
    : calls_(timeline.texts.size(), CallKind::kOther), ops_(timeline.texts.size(), OpWork::kUnknown) {
  const bool has_ranges = timeline.format.empty() || timeline.format == "kineto";
  std::vector<bool> call_seen(timeline.texts.size(), false);
  std::vector<bool> op_seen(timeline.texts.size(), false);
  for (const Event& event : timeline.events) {
    if (event.role == Role::kRuntimeCall && !call_seen[event.name]) {
      call_seen[event.name] = true;
      calls_[event.name] = call_kind(timeline.texts[event.name]);
    } else if (event.role == Role::kOp && !op_seen[event.name]) {
      op_seen[event.name] = true;
      ops_[event.name] = work_of(timeline.texts[event.name], has_ranges);
    }
  }
}

}  // namespace deepgap::trace
