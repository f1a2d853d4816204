// A fuzz target: a function that must survive whatever bytes it is given, and inputs to begin with.
//
//   for (const Seed& seed : target.seeds()) target.run(seed.bytes);
//
// Each stands in a file of its own, NAME_fuzz.cpp, and in the list of targets.cpp. libfuzzer.cpp makes a
// fuzzer of them (`make fuzz`); regressions_test.cpp runs them in every build over their seeds and over
// fuzz/regressions/NAME, where the smallest input of each fault that was found is kept.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace deepgap::fuzz {

struct Seed {
  std::string name;  // a file's
  std::string bytes;
};

struct Target {
  std::string_view name;  // lower case with _
  std::string_view what;  // whose bytes they are
  // Ends the program with a word when something that must hold does not.
  void (*run)(std::string_view input);
  std::vector<Seed> (*seeds)();
};

extern const Target kCpuLists;
extern const Target kEinsum;
extern const Target kForeignFiles;
extern const Target kKernelNames;
extern const Target kTraces;
extern const Target kMachineTrees;
extern const Target kModels;
extern const Target kStoreBytes;
extern const Target kStoreValues;
extern const Target kStoredColumns;
extern const Target kSweepRequests;
extern const Target kTexts;
extern const Target kWorkerMessages;

std::span<const Target* const> all_targets();
const Target* find_target(std::string_view name);

// What must hold whatever the input; `what` says it.
void require(bool holds, std::string_view what);
// An error's sentence can be shown as it is: printable, not empty.
void require_sentence(const Error& error);
template <typename T>
bool checked(const Result<T>& result) {
  if (!result.ok()) require_sentence(result.error());
  return result.ok();
}

// Takes an input apart from its front; what is no longer there is zero.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  // An unsigned number of `size` bytes, little-endian.
  std::size_t number(std::size_t size);
  std::string_view text(std::size_t size);
  std::string_view rest() { return text(rest_.size()); }

 private:
  std::string_view rest_;
};
// `value` as Reader::number reads it.
std::string bytes_of(std::size_t value, std::size_t size);

// The text of a file of this repository: "tests/roots/vm.tree".
std::string source_file(const std::string& path);

}  // namespace deepgap::fuzz
