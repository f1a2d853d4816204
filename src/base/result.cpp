#include "base/result.h"

namespace deepgap {

ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return ExitCode::kUsage;
    case ErrorKind::kBadInput:
      return ExitCode::kBadInput;
    case ErrorKind::kPartial:
    case ErrorKind::kCancelled:
      return ExitCode::kPartial;
    case ErrorKind::kMissing:
      return ExitCode::kMissing;
    case ErrorKind::kInternal:
      break;
  }
  return ExitCode::kInternal;
}

}  // namespace deepgap
