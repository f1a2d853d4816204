#include "trace/host_names.h"

#include "ops/op_class.h"

namespace deepgap::trace {
namespace {

OpWork work_of(std::string_view name) {
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
  std::vector<bool> call_seen(timeline.texts.size(), false);
  std::vector<bool> op_seen(timeline.texts.size(), false);
  for (const Event& event : timeline.events) {
    if (event.role == Role::kRuntimeCall && !call_seen[event.name]) {
      call_seen[event.name] = true;
      calls_[event.name] = call_kind(timeline.texts[event.name]);
    } else if (event.role == Role::kOp && !op_seen[event.name]) {
      op_seen[event.name] = true;
      ops_[event.name] = work_of(timeline.texts[event.name]);
    }
  }
}

}  // namespace deepgap::trace
