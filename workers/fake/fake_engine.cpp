#include "fake_engine.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "run/worker_server.h"

namespace deepgap::fake {
namespace {

using run::EngineFailure;
using run::Outcome;

constexpr std::int64_t kOutputWidth = 10;
constexpr Nanoseconds kSpin =
    std::chrono::microseconds(100);  // the end of a wait is spun: sleeping is not exact

// Straight to the descriptor of the replies, past the server: what no worker may do.
void write_reply(std::string_view text) {
  if (::write(run::kReplyDescriptor, text.data(), text.size()) < 0) std::perror("fake: write");
}

[[noreturn]] void hang() {
  for (;;) pause();
}

// The relative error of the planted outputs: as of 8 bits of mantissa, and of an 8-bit scale.
double error_of(Precision precision) {
  switch (precision) {
    case Precision::kBf16:
      return 1.0 / 256;
    case Precision::kInt8:
      return 1.0 / 64;
    default:
      return 0;
  }
}

}  // namespace

run::EngineDescription FakeEngine::describe() {
  run::EngineDescription description;
  description.name = "fake";
  description.version = "1";
  Device device;
  device.address = "cpu";
  device.name = "Planted CPU";
  description.devices = {device};
  for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8})
    description.precisions.emplace_back(precision, run::PrecisionMaker::kEngine);
  description.model_formats = {"onnx"};
  description.settings = setting_names();
  description.settings.insert(description.settings.end(), {"cpu.threads", "cpu.streams"});
  description.process_settings = {"fake.process", "fake.process_noise"};
  description.enqueue_timer = true;
  description.polls = true;
  description.outputs = true;
  description.profile = true;
  description.probes = {"bandwidth.memory"};
  return description;
}

Nanoseconds FakeEngine::now() {
  return settings_.virtual_time ? virtual_clock_.monotonic() : system_clock_.monotonic();
}

void FakeEngine::sleep_until(Nanoseconds moment) {
  if (settings_.virtual_time) {
    if (moment > virtual_clock_.monotonic()) virtual_clock_.advance(moment - virtual_clock_.monotonic());
    return;
  }
  if (const Nanoseconds left = moment - system_clock_.monotonic(); left > kSpin)
    system_clock_.sleep(left - kSpin);
  while (system_clock_.monotonic() < moment) {
  }
}

Outcome FakeEngine::load(const run::LoadRequest& request, run::LoadReply& reply) {
  const Nanoseconds begun_at = now();  // on the clock of the load before, which may be another
  auto wanted = request.settings;
  for (const char* name : {"cpu.threads", "cpu.streams"}) wanted.erase(name);  // taken, and of no effect
  auto settings = parse_settings(wanted);
  if (!settings.ok())
    return EngineFailure{std::string(run::failures::kBadRequest), settings.error().message(), std::nullopt};
  settings_ = *settings;
  if (const char* scenario = std::getenv("DEEPGAP_FAKE_SCENARIO"); scenario != nullptr)
    settings_.scenario = parse_scenario(scenario).value_or(settings_.scenario);
  loaded_ = request;
  in_flight_.clear();
  calls_ = 0;
  switch (settings_.scenario) {
    case Scenario::kCrashAtLoad:
      std::fputs("fake: about to crash\n", stderr);
      raise(SIGSEGV);
      break;
    case Scenario::kHangAtLoad:
      hang();
    case Scenario::kGarbageLog:
      std::puts("{\"id\":1,\"ok\":true} \x1b[2J\xff and more that a library may print");
      std::fflush(stdout);
      break;
    case Scenario::kGarbageReply:
      write_reply("Loading model...\n");
      break;
    case Scenario::kWrongOrder:
      write_reply("{\"id\":1000000,\"ok\":true}\n");
      break;
    default:
      break;
  }
  if (settings_.most_batch && request.batch > *settings_.most_batch)
    return EngineFailure{std::string(run::failures::kOutOfMemory), "fake: the batch does not fit",
                         settings_.bytes_per_sample * request.batch};
  virtual_clock_ = FakeClock(system_clock_.monotonic(), system_clock_.realtime());
  // A virtual clock that ran ahead has leapt back: that is no part of the load.
  reply.other_time = now() - begun_at;
  sleep_until(now() + settings_.load_time);
  times_.emplace(settings_, request.batch, request.seed);
  reply.slots = request.mode == Mode::kLatency ? 1 : request.in_flight.value_or(settings_.slots);
  server_free_at_.assign(static_cast<std::size_t>(settings_.servers), Nanoseconds{});
  for (const auto& [name, value] : request.settings) reply.settings.push_back({name, value, value});
  if (!request.settings.contains("fake.time")) reply.settings.push_back({"fake.time", std::nullopt, "real"});
  reply.outputs = {{"output", "float32", {request.batch, kOutputWidth}}};
  return {};
}

Outcome FakeEngine::trouble_at_call() {
  if (calls_++ != settings_.at) return {};
  switch (settings_.scenario) {
    case Scenario::kCrashAtCall:
      std::fputs("fake: about to crash\n", stderr);
      raise(SIGSEGV);
      break;
    case Scenario::kHangAtCall:
      hang();
    case Scenario::kExitAtCall:
      _exit(0);
    case Scenario::kTruncatedBlob:
      write_reply(
          "{\"id\":3,\"ok\":true,\"blobs\":[{\"name\":\"host_ns\",\"type\":\"i64\",\"count\":1000}]}\nabc");
      _exit(0);
    case Scenario::kDeviceLost:
      return EngineFailure{std::string(run::failures::kDeviceLost), "fake: the device is gone", std::nullopt};
    default:
      break;
  }
  return {};
}

Outcome FakeEngine::call() {
  if (Outcome outcome = trouble_at_call(); !outcome.ok()) return outcome;
  sleep_until(now() + times_->next());
  return {};
}

Outcome FakeEngine::enqueue(int slot) {
  if (Outcome outcome = trouble_at_call(); !outcome.ok()) return outcome;
  const auto server = std::min_element(server_free_at_.begin(), server_free_at_.end());
  *server = std::max(*server, now()) + times_->next();
  in_flight_.push_back({slot, *server});
  return {};
}

Outcome FakeEngine::wait_any(run::Completion& completion) {
  const auto first = std::min_element(in_flight_.begin(), in_flight_.end(), [](const auto& a, const auto& b) {
    return a.completed_at < b.completed_at;
  });
  completion = *first;
  in_flight_.erase(first);
  sleep_until(completion.completed_at);
  return {};
}

bool FakeEngine::done(int slot) {
  return std::any_of(in_flight_.begin(), in_flight_.end(), [&](const run::Completion& completion) {
    return completion.slot == slot && completion.completed_at <= now();
  });
}

run::CallTimes FakeEngine::times(int) {
  return {std::chrono::microseconds(1), std::nullopt};
}

run::MemoryUse FakeEngine::memory() {
  // The loop asks for this last, so the reply is on its way before the process is gone.
  if (settings_.scenario == Scenario::kCrashBetween)
    std::thread([] {
      SystemClock().sleep(std::chrono::milliseconds(50));
      _exit(3);
    }).detach();
  return Engine::memory();
}

Outcome FakeEngine::outputs(std::span<const run::Tensor>, std::vector<run::Tensor>& outputs) {
  Random exact(loaded_.seed), noise = exact.fork(7);
  std::vector<float> values(static_cast<std::size_t>(loaded_.batch * kOutputWidth));
  for (float& value : values)
    value = static_cast<float>(exact.normal() * (1 + error_of(loaded_.precision) * noise.normal()));
  run::Tensor tensor{{"output", "float32", {loaded_.batch, kOutputWidth}}, {}};
  tensor.bytes.resize(values.size() * sizeof(float));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  outputs.push_back(std::move(tensor));
  return {};
}

Outcome FakeEngine::profile(int, std::vector<run::OpTime>& ops) {
  const Nanoseconds median = times_->median();
  ops = {{"conv", "Convolution", "planted_f32", median * 7 / 10},
         {"relu", "Relu", "planted_f32", median / 10},
         {"dense", "FullyConnected", "planted_f32", median - median * 7 / 10 - median / 10}};
  return {};
}

Outcome FakeEngine::probe(const std::string&, const std::string& quantity, Ceiling& ceiling) {
  if (quantity != "bandwidth.memory")
    return EngineFailure{std::string(run::failures::kUnsupported),
                         "fake: only bandwidth.memory can be probed", std::nullopt};
  ceiling = {quantity, 1e10, Unit::kBytesPerSecond, Origin::kMeasured, "planted"};
  return {};
}

}  // namespace deepgap::fake
