// One run of LoadGen, from keys and values in whatever order and spelling its files have them.
//
//   LoadgenRun run;
//   run.take("Samples per second", "6121.33");
//   run.take("result_samples_per_second", "6121.33");     // the same
//   run.into(content, source, options, "loadgen-summary");
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trace/byte_source.h"
#include "trace/importer.h"

namespace deepgap::trace {

class LoadgenRun {
 public:
  // A key that says nothing here is left out. Of a key that comes twice the first counts: in the multi-stream
  // scenario latencies of queries stand before those of samples.
  void take(std::string_view key, std::string_view value);
  void add_errors(std::int64_t count) { errors_ += count; }
  void add_warnings(std::int64_t count) { warnings_ += count; }

  // A measurement with the reported figures or, where there are none, a diagnostic that says so.
  void into(FileContent& content, const ByteSource& source, const ImportOptions& options,
            std::string_view format) const;

 private:
  std::string value_of(std::string_view name) const;
  void add_doubts(Measurement& measurement) const;

  std::map<std::string, double, std::less<>> figures_;      // by metric: ns, samples/s
  std::map<std::string, std::string, std::less<>> values_;  // by our name
  std::int64_t errors_ = 0;
  std::int64_t warnings_ = 0;
};

}  // namespace deepgap::trace
