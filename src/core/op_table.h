// What a tool's table says of each operator or kernel, without times of day: layer profiles, counters, kernel
// summaries. With such a table a measurement has op records without a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "core/op_record.h"

namespace deepgap {

struct OpTable {
  // A figure of the tool's own that no field of OpRecord has, as it stands there: a counter, an occupancy.
  struct Figure {
    std::string name;
    std::string value;
    std::string unit;  // "" where it has none
  };
  struct Row {
    // In the order of the file. `duration` is the mean of one inference or of one execution, as
    // OpTable::per says; start_at is 0.
    OpRecord record;
    std::optional<std::int64_t> count;  // executions that the duration is the mean of; absent: not said
    std::string kind;                   // the tool's own word: "Convolution", "CPUExecutionProvider"
    std::string implementation;         // "brgconv_avx512_I8", a tactic; "" where it is not said
    std::vector<Figure> figures;
  };
  enum class Per { kInference, kExecution };

  std::optional<MeasurementId> measurement;  // that it belongs to; absent: none, a table by itself
  std::string title;                         // "layers", "kernels"
  Per per = Per::kInference;
  bool timed = true;  // false: what ran, without durations (layer information of an engine)
  std::vector<Row> rows;
  std::vector<std::pair<std::string, std::string>> facts;  // versions and flags that the file says
};

}  // namespace deepgap
