#include "run/worker_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "run/protocol.h"

namespace deepgap::run {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;

class SmallEngine final : public Engine {
 public:
  enum class Trouble { kNone, kBadAlloc, kException, kOddException };
  Trouble trouble_at_load = Trouble::kNone;
  std::atomic<bool> slow = false;
  std::atomic<int> calls = 0;
  bool polls = true;
  std::vector<std::string> probes;
  std::vector<int> queued;

  EngineDescription describe() override {
    EngineDescription description;
    description.name = "small";
    description.version = "1";
    Device device;
    device.address = "cpu";
    device.name = "a CPU";
    description.devices = {device};
    description.precisions = {{Precision::kFp32, PrecisionMaker::kEngine}};
    description.model_formats = {"onnx"};
    description.settings = {"cpu.threads", "small.fixed", "small.mute"};
    description.process_settings = {"small.fixed"};
    description.polls = polls;
    description.probes = probes;
    description.profile = true;
    return description;
  }
  Outcome load(const LoadRequest& request, LoadReply& reply) override {
    switch (trouble_at_load) {
      case Trouble::kBadAlloc:
        throw std::bad_alloc();
      case Trouble::kException:
        throw std::runtime_error("it \x1b[2Jburns");
      case Trouble::kOddException:
        throw 7;
      case Trouble::kNone:
        break;
    }
    reply.slots = request.in_flight.value_or(2);
    if (request.settings.contains("cpu.threads"))
      reply.settings.push_back({"cpu.threads", request.settings.at("cpu.threads"), "1"});
    return {};
  }
  Outcome call() override {
    ++calls;
    if (slow) std::this_thread::sleep_for(2ms);
    return {};
  }
  Outcome enqueue(int slot) override {
    queued.push_back(slot);
    return {};
  }
  Outcome wait_any(Completion& completion) override {
    completion = {queued.front(), SystemClock().monotonic()};
    queued.erase(queued.begin());
    return {};
  }
  bool done(int) override { return true; }
  Outcome profile(int, std::vector<OpTime>& ops) override {
    ops.push_back({"conv1", "Convolution", "x", Nanoseconds(5)});
    return {};
  }
};

// A server in a thread with the core's ends of its pipes.
class Connection {
 public:
  explicit Connection(Engine& engine) {
    int requests[2], replies[2];
    EXPECT_EQ(pipe2(requests, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(replies, O_CLOEXEC), 0);
    write_end_ = requests[1];
    read_end_ = replies[0];
    writer_.emplace(write_end_);
    reader_.emplace(read_end_);
    thread_ = std::thread([this, &engine, in = requests[0], out = replies[1]] {
      const auto served = serve(engine, in, out);
      if (!served.ok()) error_ = served.error().message();
      close(in);
      close(out);
    });
  }
  ~Connection() {
    end_requests();
    if (thread_.joinable()) thread_.join();
    close(read_end_);
  }
  void end_requests() {
    if (write_end_ >= 0) close(write_end_);
    write_end_ = -1;
  }
  // How serving ended: "" is well.
  std::string wait_for_end() {
    thread_.join();
    return error_;
  }
  void send(std::int64_t id, const Request& request) { send(encode(id, request)); }
  void send(const Message& message) { ASSERT_TRUE(writer_->write(message, 20s).ok()); }
  Message receive() {
    auto outcome = reader_->read(Nanoseconds(20s));
    EXPECT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->status, ReadStatus::kMessage);
    return outcome.ok() ? std::move(outcome->message) : Message{};
  }
  Message ask(const Request& request) {
    send(++last_id_, request);
    return receive();
  }
  EngineFailure failure(const Request& request) {
    const auto incoming = classify(ask(request));
    EXPECT_TRUE(incoming.ok() && incoming->kind == Incoming::Kind::kFailure);
    EXPECT_EQ(incoming->id, last_id_);
    return incoming->failure;
  }
  void succeed(const Request& request) {
    const auto incoming = classify(ask(request));
    ASSERT_TRUE(incoming.ok());
    EXPECT_EQ(incoming->kind, Incoming::Kind::kReply) << incoming->failure.message;
    EXPECT_EQ(incoming->id, last_id_);
  }

 private:
  int write_end_ = -1;
  int read_end_ = -1;
  std::optional<MessageWriter> writer_;
  std::optional<MessageReader> reader_;
  std::thread thread_;
  std::string error_;
  std::int64_t last_id_ = 0;
};

LoadRequest load_of(std::map<std::string, std::string> settings = {}) {
  LoadRequest request;
  request.model_path = "m.onnx";
  request.settings = std::move(settings);
  return request;
}

MeasureVerb fixed_measure(std::int64_t count) {
  MeasureVerb verb;
  verb.options.warmup_fixed_calls = 2;
  verb.options.stopping.fixed_count = count;
  verb.options.stopping.time_limit = 3600s;
  return verb;
}

TEST(WorkerServer, SpeaksTheProtocol) {
  SmallEngine engine;
  Connection core(engine);
  const auto hello = decode_hello_reply(core.ask(HelloVerb{}));
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->engine.name, "small");
  for (const char* verb :
       {"hello", "load", "measure", "run", "cancel", "memory", "profile", "enqueue", "poll", "exit"})
    EXPECT_THAT(hello->verbs, Contains(verb));
  EXPECT_FALSE(hello->has_verb("outputs"));
  EXPECT_FALSE(hello->has_verb("probe"));

  const auto loaded = decode_load_reply(core.ask(load_of({{"cpu.threads", "2"}, {"small.mute", "x"}})));
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->load.slots, 2);
  ASSERT_EQ(loaded->load.settings.size(), 2u);  // the engine did not answer for small.mute: not known
  EXPECT_EQ(loaded->load.settings[1].name, "small.mute");
  EXPECT_FALSE(loaded->load.settings[1].effective.has_value());

  const auto measured = decode_measure_reply(core.ask(fixed_measure(25)));
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->samples.size(), 25u);
  EXPECT_TRUE(measured->first_call.has_value());
  const auto again = decode_measure_reply(core.ask(fixed_measure(5)));
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->first_call.has_value());

  EXPECT_TRUE(decode_run_reply(core.ask(RunVerb{})).ok());
  EXPECT_TRUE(decode_profile_reply(core.ask(ProfileVerb{2})).ok());
  const auto memory = decode_memory_reply(core.ask(MemoryVerb{}));
  ASSERT_TRUE(memory.ok());
  EXPECT_GT(memory->memory.peak_process->value, 0);
  core.succeed(CancelVerb{});  // nothing to cancel
  core.succeed(ExitVerb{});
  EXPECT_EQ(core.wait_for_end(), "");
}

TEST(WorkerServer, EndsWithTheRequests) {
  SmallEngine engine;
  Connection core(engine);
  core.succeed(HelloVerb{});
  core.end_requests();
  EXPECT_EQ(core.wait_for_end(), "");
}

TEST(WorkerServer, RefusesWhatTheEngineDoesNotHave) {
  SmallEngine engine;
  Connection core(engine);
  EXPECT_EQ(core.failure(HelloVerb{2, ""}).kind, "unsupported");
  EXPECT_EQ(core.failure(fixed_measure(1)).message,
            "expected a model to be loaded, found none: send 'load' before");
  LoadRequest request = load_of();
  request.device = "cuda:0";
  EXPECT_THAT(core.failure(request).message, HasSubstr("unknown device 'cuda:0'"));
  request = load_of();
  request.precision = Precision::kInt8;
  EXPECT_EQ(core.failure(request).kind, "unsupported");
  request = load_of();
  request.model_format = "torchscript";
  EXPECT_EQ(core.failure(request).kind, "unsupported");
  EXPECT_THAT(core.failure(load_of({{"cpu.thread", "1"}})).message, HasSubstr("did you mean 'cpu.threads'?"));
  core.succeed(load_of());
  MeasureVerb verb = fixed_measure(1);
  verb.options.mode = Mode::kThroughput;
  verb.options.in_flight = 3;
  EXPECT_EQ(core.failure(verb).message, "expected at most 2 calls in flight as 'load' answered, found 3");
  EXPECT_EQ(core.failure(OutputsVerb{}).kind, "unsupported");
  EXPECT_EQ(core.failure(ProbeVerb{"cpu", "bandwidth.memory"}).kind, "unsupported");
}

TEST(WorkerServer, RefusesVerbsThatItDoesNotName) {
  SmallEngine engine;
  engine.polls = false;
  Connection core(engine);
  // Also before a load, as what they are.
  for (const Request& request :
       {Request(OutputsVerb{}), Request(EnqueueVerb{}), Request(PollVerb{}), Request(ProbeVerb{"cpu", "x"})})
    EXPECT_EQ(core.failure(request).kind, "unsupported") << verb_of(request);
}

TEST(WorkerServer, ProbesWhatItSaysItProbes) {
  SmallEngine engine;
  engine.probes = {"bandwidth.memory"};
  Connection core(engine);
  EXPECT_EQ(core.failure(ProbeVerb{"cuda:0", "bandwidth.memory"}).message,
            "unknown device 'cuda:0': known are: cpu");
  EXPECT_THAT(core.failure(ProbeVerb{"cpu", "bandwidth.memry"}).message,
              HasSubstr("unknown quantity to probe 'bandwidth.memry': did you mean 'bandwidth.memory'?"));
}

TEST(WorkerServer, ARefusedLoadUnloadsToo) {
  SmallEngine engine;
  Connection core(engine);
  core.succeed(load_of());
  core.succeed(RunVerb{});
  LoadRequest request = load_of();
  request.device = "cuda:0";
  EXPECT_EQ(core.failure(request).kind, "unsupported");
  EXPECT_EQ(core.failure(RunVerb{}).kind, "bad_request");
  core.succeed(load_of());
  core.succeed(RunVerb{});
}

TEST(WorkerServer, ProcessSettingsStayAsTheFirstLoadSetThem) {
  SmallEngine engine;
  Connection core(engine);
  core.succeed(load_of({{"small.fixed", "a"}, {"cpu.threads", "1"}}));
  core.succeed(load_of({{"small.fixed", "a"}, {"cpu.threads", "2"}}));
  EXPECT_EQ(core.failure(load_of({{"small.fixed", "b"}})).kind, "bad_request");
  EXPECT_THAT(core.failure(load_of()).message, HasSubstr("load it in a fresh process"));
}

TEST(WorkerServer, ExceptionsAreFailures) {
  SmallEngine engine;
  Connection core(engine);
  engine.trouble_at_load = SmallEngine::Trouble::kBadAlloc;
  EXPECT_EQ(core.failure(load_of()).kind, "out_of_memory");
  engine.trouble_at_load = SmallEngine::Trouble::kException;
  const EngineFailure failure = core.failure(load_of());
  EXPECT_EQ(failure.kind, "internal");
  EXPECT_EQ(failure.message, "the engine threw an exception: it \\x1b[2Jburns");
  engine.trouble_at_load = SmallEngine::Trouble::kOddException;
  EXPECT_EQ(core.failure(load_of()).kind, "internal");
  EXPECT_EQ(core.failure(RunVerb{}).kind, "bad_request");  // what was loaded before is gone
  engine.trouble_at_load = SmallEngine::Trouble::kNone;
  core.succeed(load_of());
}

TEST(WorkerServer, CancelEndsTheMeasuringAndIsAnsweredAfterIt) {
  SmallEngine engine;
  engine.slow = true;
  Connection core(engine);
  core.succeed(load_of());
  core.send(10, fixed_measure(10'000'000));
  // Progress shows that it runs.
  Message message = core.receive();
  auto incoming = classify(message);
  ASSERT_TRUE(incoming.ok());
  EXPECT_EQ(incoming->kind, Incoming::Kind::kEvent);
  EXPECT_EQ(incoming->id, 10);
  core.send(11, MemoryVerb{});  // waits its turn
  core.send(12, CancelVerb{});
  do {
    message = core.receive();
    incoming = classify(message);
    ASSERT_TRUE(incoming.ok());
  } while (incoming->kind == Incoming::Kind::kEvent);
  EXPECT_EQ(incoming->id, 10);
  const auto measured = decode_measure_reply(message);
  ASSERT_TRUE(measured.ok());
  EXPECT_EQ(measured->stop_reason, StopReason::kCancelled);
  EXPECT_GT(measured->samples.size(), 0u);
  EXPECT_EQ(classify(core.receive())->id, 11);
  EXPECT_EQ(classify(core.receive())->id, 12);
  core.succeed(RunVerb{});
}

TEST(WorkerServer, AClosedPipeEndsAMeasuring) {
  SmallEngine engine;
  engine.slow = true;
  Connection core(engine);
  core.succeed(load_of());
  core.send(10, fixed_measure(10'000'000));
  (void)core.receive();
  core.end_requests();
  EXPECT_EQ(core.wait_for_end(), "");  // within the test's time limit, not after 10 million calls
}

TEST(WorkerServer, EnqueueAndPoll) {
  SmallEngine engine;
  Connection core(engine);
  core.succeed(load_of());
  core.succeed(EnqueueVerb{1});
  EXPECT_EQ(core.failure(EnqueueVerb{1}).kind, "bad_request");
  EXPECT_EQ(core.failure(EnqueueVerb{2}).kind, "bad_request");
  EXPECT_EQ(core.failure(RunVerb{}).kind, "bad_request");
  const auto polled = decode_poll_reply(core.ask(PollVerb{}));
  ASSERT_TRUE(polled.ok());
  ASSERT_EQ(polled->ended.size(), 1u);
  EXPECT_EQ(polled->ended[0].slot, 1);
  EXPECT_TRUE(decode_poll_reply(core.ask(PollVerb{}))->ended.empty());
  core.succeed(RunVerb{});
}

TEST(WorkerServer, BadRequestsAreAnsweredAndGarbageEndsIt) {
  SmallEngine engine;
  Connection core(engine);
  core.send({R"({"id":1,"verb":"dance"})", {}});
  EXPECT_EQ(classify(core.receive())->failure.kind, "unsupported");
  core.send({R"({"id":2,"verb":"load"})", {}});
  EXPECT_EQ(classify(core.receive())->failure.kind, "bad_request");
  core.send({"garbage", {}});
  EXPECT_EQ(core.wait_for_end(), "expected a line with one JSON object, found 'garbage'");
}

TEST(WorkerServer, SaysWhatItNeedsWhenStartedByHand) {
  SmallEngine engine;
  const auto served = serve(engine, 990, 991);  // no such descriptors
  ASSERT_FALSE(served.ok());
  EXPECT_THAT(served.error().message(), HasSubstr("deepgap-worker-conformance"));
}

}  // namespace
}  // namespace deepgap::run
