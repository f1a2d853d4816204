#include "report/document.h"

namespace deepgap::report {

Scale milliseconds() {
  return {.divisor = 1e6, .unit = "ms", .digits = 4};
}
Scale samples_per_second() {
  return {.divisor = 1, .unit = "samples/s", .digits = 4};
}
Scale percent() {
  return {.divisor = 0.01, .unit = "%", .digits = 3};
}
Scale plain(int digits) {
  return {.divisor = 1, .unit = "", .digits = digits};
}

}  // namespace deepgap::report
