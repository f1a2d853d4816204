// What the names of calls and ops say of them, looked up once for each name.
//
//   const HostNames names(timeline);
//   names.call(timeline.events[i])     // CallKind::kLaunch
//   names.op(timeline.events[i])       // OpWork::kComputes
#pragma once

#include <vector>

#include "trace/runtime_calls.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// What an op does where it runs on the host.
enum class OpWork : std::uint8_t {
  kUnknown,   // the table of ops lacks it
  kComputes,  // with all that it holds
  kMoves,     // copies, casts, fills: the innermost of them does
  kNone,      // a view, a constant, control
  kRange,     // no op: what the program does, with ops in it or without
  kWrapper,   // no op: it leads to ops
  kPlain,     // a range as the program's, or an op where it launches and holds no op
};

inline bool is_range(OpWork work) {
  return work == OpWork::kRange || work == OpWork::kWrapper || work == OpWork::kPlain;
}

class HostNames {
 public:
  explicit HostNames(const Timeline& timeline);

  CallKind call(const Event& event) const { return calls_[event.name]; }
  OpWork op(const Event& event) const { return ops_[event.name]; }

 private:
  std::vector<CallKind> calls_;  // for each of Timeline::texts that names a call
  std::vector<OpWork> ops_;      // that names an op
};

}  // namespace deepgap::trace
