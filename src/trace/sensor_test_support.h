// Logs of sensors in the tests of their importers.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/test_files.h"

namespace deepgap::trace {

// What is read from a file with this text, which is one of `format`.
inline FileContent sensors_of(const std::string& text, std::string_view format,
                              const ImportOptions& options = {}) {
  auto content = read_content(text, options);
  if (!content.ok() || !content->telemetry) {
    ADD_FAILURE() << (content.ok() ? "no telemetry" : content.error().message());
    FileContent none;
    none.telemetry.emplace();
    return none;
  }
  EXPECT_EQ(content->format, format);
  return std::move(*content);
}

inline const TelemetryLog::Series& series_of(const FileContent& content, std::string_view quantity,
                                             std::string_view source) {
  for (const TelemetryLog::Series& series : content.telemetry->series) {
    if (series.quantity == quantity && series.source == source) return series;
  }
  ADD_FAILURE() << "no " << quantity << " of " << source;
  static const TelemetryLog::Series none;
  return none;
}

inline std::vector<std::string> ids_of(const FileContent& content) {
  std::vector<std::string> ids;
  for (const Diagnostic& each : content.diagnostics) ids.push_back(each.id);
  return ids;
}

}  // namespace deepgap::trace
