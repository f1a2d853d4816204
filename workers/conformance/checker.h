// One worker under test: asks it, and tells of each rule whether it is kept. The rules stand in
// rules_*.cpp, in groups; each group begins with a fresh process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "connection.h"
#include "rules.h"

namespace deepgap::conformance {

inline constexpr std::int64_t kFixedWarmup = 5;
inline constexpr std::int64_t kFixedCount = 20;

// "expected WHAT, found FOUND"
Error expected(const std::string& what, const std::string& found);
// Whether an answer succeeded, or failed as it should.
Result<void> succeeded(const Answer& answer);
Result<void> failed_as(const Answer& answer, std::string_view kind);

template <typename T>
Result<void> discard(Result<T> result) {
  if (!result.ok()) return std::move(result).error();
  return {};
}

class Checker {
 public:
  Checker(const Options& options, const std::function<void(const Finding&)>& tell)
      : options_(options), tell_(tell) {}
  // True: no rule is violated.
  bool run();

 private:
  using Check = std::function<Result<void>()>;

  bool wants(std::string_view group) const;

  // One rule. False: it is violated, so that those which build on it are left out.
  bool rule(std::string_view name, std::string_view meaning, const Check& check);
  // What a group of rules stands on; only its failure is told.
  bool ready(std::string_view name, const Result<void>& result);
  void skip(std::string_view name, std::string_view meaning, std::string why);
  // A rule for a verb that a worker may have.
  bool optional_rule(const char* verb, std::string_view meaning, const Check& check);

  // A fresh worker that has answered hello, and one that has loaded the model too.
  Result<void> start();
  Result<void> start_and_load(Mode mode = Mode::kLatency);
  run::LoadRequest load_request(Mode mode = Mode::kLatency, std::int64_t batch = 1) const;
  Result<run::LoadedReply> load(const run::LoadRequest& request);
  static run::MeasureVerb fixed_measure(Mode mode = Mode::kLatency, int in_flight = 1);
  Result<run::MeasureReply> measure(const run::MeasureVerb& verb,
                                    std::vector<run::MeasureProgress>* progress = nullptr);
  // The request as JSON, with members that no version knows and without those that are null.
  Result<Answer> ask_with_other_members(const run::Request& request);
  // What holds for the samples of any measuring that was asked for so.
  Result<void> plausible(const run::MeasureVerb& verb, const run::MeasureReply& reply) const;

  // Times of the worker may run ahead of the clock: the fake's planted ones.
  bool virtual_time() const;

  bool hello();  // false: it cannot be talked to
  void refusals();
  bool loading();  // false: nothing can be loaded
  void measuring();
  void warming_up_and_stopping();
  void scheduling();
  void cancelling();
  // A measuring without an end is cancelled: it, then `cancel`, is answered soon.
  Result<void> is_cancelled(run::MeasureVerb verb);
  void other_verbs();
  void outputs();
  void polling();
  void probing();
  void ending();

  const Options& options_;
  const std::function<void(const Finding&)>& tell_;
  std::optional<Connection> connection_;
  run::HelloReply hello_;
  SystemClock clock_;
  bool kept_ = true;
};

}  // namespace deepgap::conformance
