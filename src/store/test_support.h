// What the tests of the store share: a folder of their own, measurements with every field set, texts to
// compare them by.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace deepgap::store {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string db() const { return file("test.db"); }

  static void write(const std::string& path, std::string_view content);
  static std::string read(const std::string& path);
  // The store, or a failed test.
  static Store open(const std::string& path, OpenMode mode = OpenMode::kWrite);

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// Runs `body` in a forked process, which must open stores of its own; its exit status is what `body` returns.
pid_t fork_child(const std::function<int()>& body);
// The exit status, or 128 + the signal that ended it.
int wait_for(pid_t child);

// Whether a result is fine; says its error where it is not.
template <typename T>
testing::AssertionResult is_ok(const Result<T>& result) {
  if (result.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result.error().message();
}
#define EXPECT_OK(expression) EXPECT_TRUE(is_ok(expression))
#define ASSERT_OK(expression) ASSERT_TRUE(is_ok(expression))

MeasurementId id_of(int number);

// A process with `samples` host and start times, the same each time.
ProcessRun make_process(int index, std::size_t samples = 5);
// The measurement number `number`, created that many seconds after a fixed time.
Measurement make_measurement(int number, int processes = 0);

// Every field as text.
std::string describe(const Measurement& measurement);

// Runs SQL on a file as any other program would.
void run_sql(const std::string& path, const std::string& sql);

}  // namespace deepgap::store
