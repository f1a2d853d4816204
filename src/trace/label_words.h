// What a label means to a reader who does not know its id, and what is usually tried against it.
//
//   words_of(Label::kIdleHostLaunch).device       // "waits for the host to launch the next kernel"
#pragma once

#include <string_view>

#include "trace/attribution.h"

namespace deepgap::trace {

struct LabelWords {
  std::string_view title;   // of a column
  std::string_view device;  // what the device does: "waits for ..."
  std::string_view remedy;  // to try; "" where there is nothing to say
};
const LabelWords& words_of(Label label);

}  // namespace deepgap::trace
