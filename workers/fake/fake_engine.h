// An engine that computes nothing: planted times, planted outputs, planted trouble.
#pragma once

#include <optional>
#include <vector>

#include "fake_settings.h"
#include "planted_times.h"
#include "run/engine.h"

namespace deepgap::fake {

class FakeEngine final : public run::Engine {
 public:
  run::EngineDescription describe() override;
  run::Outcome load(const run::LoadRequest& request, run::LoadReply& reply) override;
  run::Outcome call() override;
  run::Outcome enqueue(int slot) override;
  run::Outcome wait_any(run::Completion& completion) override;
  bool done(int slot) override;
  run::CallTimes times(int slot) override;
  run::MemoryUse memory() override;
  run::Outcome outputs(std::span<const run::Tensor> inputs, std::vector<run::Tensor>& outputs) override;
  run::Outcome profile(int calls, std::vector<run::OpTime>& ops) override;
  run::Outcome probe(const std::string& device, const std::string& quantity, Ceiling& ceiling) override;
  Clock* clock() override { return settings_.virtual_time ? &virtual_clock_ : nullptr; }

  // Whether the program shall stay when its requests end.
  bool ignores_exit() const { return settings_.scenario == Scenario::kIgnoreExit; }

 private:
  Nanoseconds now();
  void sleep_until(Nanoseconds moment);
  run::Outcome trouble_at_call();

  Settings settings_;
  run::LoadRequest loaded_;
  std::optional<PlantedTimes> times_;
  FakeClock virtual_clock_;
  SystemClock system_clock_;
  std::vector<run::Completion> in_flight_;
  std::vector<Nanoseconds> server_free_at_;
  std::int64_t calls_ = 0;
};

}  // namespace deepgap::fake
