// One event of a Chrome trace as its text has it, before anything is made of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "trace/json_events.h"

namespace deepgap::trace {

// Views into the event's text, and for `name` into the parser's own memory; "" where absent. Numbers and ids
// are as they stand in the text, with their quotes where they have some.
struct RawEvent {
  std::string_view phase;
  std::string_view category;
  std::string_view name;
  std::string_view process;
  std::string_view thread;
  std::string_view time;      // microseconds
  std::string_view duration;  // microseconds
  // Of "args".
  std::string_view external_id;
  std::string_view correlation;
  std::string_view shapes;
  std::string_view dtypes;
  std::string_view strides;
  std::string_view values;
  std::string_view device;
  std::string_view context;
  std::string_view stream;
  std::string_view grid;
  std::string_view block;
  std::string_view registers;
  std::string_view shared_memory;
  std::string_view bytes;
  std::string_view graph_node;
  std::string_view total_allocated;
  std::string_view device_type;
  std::string_view title;  // args.name of a metadata event
  // As ONNX Runtime has them.
  std::string_view op_name;
  std::string_view provider;
  std::string_view input_type_shape;
};

class RawEventParser {
 public:
  RawEventParser();
  ~RawEventParser();

  // False: the text is no JSON object, or is damaged. The views live until the next call.
  bool parse(std::string_view text, RawEvent& event);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 1234.5678 -> 1234568: decimal microseconds in whole nanoseconds, exactly and to the nearest; quotes around
// the number are allowed. Absent: no number, or one beyond 292 years.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);
// A whole number up to 2^64 - 2; a negative one, which profilers write for "none", is absent too.
std::optional<std::uint64_t> id_of(std::string_view number);
std::optional<std::int64_t> whole_of(std::string_view number);

}  // namespace deepgap::trace
