#include "run/worker_client.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/temporary_folder.h"
#include "run/run_test_support.h"

namespace deepgap::run {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

// A machine whose counters a test raises.
class Counters final : public FileSystem {
 public:
  std::map<std::string, std::string> files;
  Result<std::string> read(const std::string& path) const override {
    const auto found = files.find(path);
    if (found == files.end()) return bad_input("no such file");
    return found->second;
  }
  std::vector<std::string> list(const std::string&) const override { return {}; }
  bool exists(const std::string& path) const override { return files.contains(path); }
};

LoadRequest load_request(const Settings& settings = {}) {
  LoadRequest request{.model_path = "/nowhere", .model_name = "a", .model_hash = "00"};
  request.inputs = {{.name = "input", .dtype = "float32", .shape = {1, 4}}};
  request.settings = settings;
  return request;
}

class Client : public testing::Test {
 protected:
  WorkerTrouble trouble_at_start(const WorkerProgram& program) {
    WorkerResult<WorkerClient> started = WorkerClient::start(program, options, stop);
    if (auto* trouble = std::get_if<WorkerTrouble>(&started)) return *trouble;
    ADD_FAILURE() << "it started";
    return {};
  }
  std::optional<WorkerClient> start(const WorkerProgram& program = fake_worker()) {
    WorkerResult<WorkerClient> started = WorkerClient::start(program, options, stop);
    if (auto* trouble = std::get_if<WorkerTrouble>(&started)) {
      ADD_FAILURE() << trouble->failure.text;
      return std::nullopt;
    }
    return std::move(std::get<WorkerClient>(started));
  }
  // The trouble of loading, or of measuring where loading went well.
  WorkerTrouble trouble_of(WorkerClient& worker, const Settings& settings,
                           const std::function<void(const Progress&)>& on_progress = nullptr) {
    WorkerResult<WorkerClient::Loaded> loaded = worker.load(load_request(settings), stop);
    if (auto* trouble = std::get_if<WorkerTrouble>(&loaded)) return *trouble;
    WorkerResult<WorkerClient::Measured> measured =
        worker.measure(Mode::kLatency, request, request.time_limit, 1, stop, on_progress);
    if (auto* trouble = std::get_if<WorkerTrouble>(&measured)) return *trouble;
    ADD_FAILURE() << "no trouble";
    return {};
  }

  TemporaryFolder folder;
  StopRequest stop;
  MeasureRequest request;
  WorkerOptions options{.log_path = folder / "worker.log"};
  const Settings endless{{"fake.median", "10ms"}};  // with a time limit of minutes
};

TEST_F(Client, LoadsAndMeasures) {
  {
    auto worker = start();
    ASSERT_TRUE(worker);
    EXPECT_EQ(worker->description().name, "fake");
    EXPECT_FALSE(worker->ended_between().has_value());
    const auto loaded =
        worker->load(load_request({{"fake.time", "virtual"}, {"fake.load_time", "1s"}}), stop);
    ASSERT_TRUE(std::holds_alternative<WorkerClient::Loaded>(loaded));
    EXPECT_GE(std::get<WorkerClient::Loaded>(loaded).load_time, 1s);
    const auto measured = worker->measure(Mode::kLatency, request, 5s, 1, stop, nullptr);
    ASSERT_TRUE(std::holds_alternative<WorkerClient::Measured>(measured));
    const auto& result = std::get<WorkerClient::Measured>(measured);
    EXPECT_TRUE(result.warmup_steady);
    EXPECT_GE(result.process.samples.size(), 50u);
    EXPECT_GT(result.process.warmup_calls, 0);
    EXPECT_GT(result.process.started.realtime_at, 0s);
  }
  EXPECT_FALSE(std::filesystem::exists(options.log_path));
}

TEST_F(Client, KeepsTheLogOfALostWorkerAndQuotesItsEnd) {
  auto worker = start();
  ASSERT_TRUE(worker);
  const WorkerTrouble trouble = trouble_of(*worker, {{"fake.scenario", "crash_at_load"}});
  EXPECT_TRUE(trouble.worker_lost);
  EXPECT_EQ(trouble.failure.kind, "crash");
  EXPECT_EQ(
      trouble.failure.text,
      "worker fake ended during load (killed by signal 11 (segmentation fault)): expected a reply; its log " +
          options.log_path + " ends: fake: about to crash");
  worker.reset();
  EXPECT_TRUE(std::filesystem::exists(options.log_path));
}

// A worker that does not answer is ended when the limit is over; the limit is of silence, not of the call's
// time.
TEST_F(Client, EndsAWorkerThatIsSilent) {
  options.hang_limit = 2s;
  auto worker = start();
  ASSERT_TRUE(worker);
  request.time_limit = 10min;
  std::atomic<int> heard = 0;
  // 400 calls of 10 ms come first: longer than the limit.
  const WorkerTrouble trouble = trouble_of(
      *worker,
      {{"fake.median", "10ms"}, {"fake.noise", "1"}, {"fake.scenario", "hang_at_call"}, {"fake.at", "400"}},
      [&](const Progress&) { ++heard; });
  EXPECT_EQ(trouble.failure.kind, "hang");
  EXPECT_TRUE(trouble.worker_lost);
  EXPECT_THAT(trouble.failure.text,
              HasSubstr("was silent for 2 s during measure: expected progress or a reply"));
  EXPECT_GT(heard, 0);
}

TEST_F(Client, EndsAWorkerThatMeasuresWithoutEnd) {
  options.hang_limit = 1s;
  const WorkerProgram program = script_worker(
      folder / "worker",
      hello_case() + load_case() +
          R"(*'"measure"'*) while sleep 0.05; do echo '{"event":"progress","id":3,"phase":"measure"}' >&4; done;;)");
  auto worker = start(program);
  ASSERT_TRUE(worker);
  request.time_limit = 1ms;
  const WorkerTrouble trouble = trouble_of(*worker, {});
  EXPECT_EQ(trouble.failure.kind, "hang");
  EXPECT_THAT(trouble.failure.text, HasSubstr("still busy during measure"));
}

TEST_F(Client, StopsAtOnceInALoad) {
  auto worker = start();
  ASSERT_TRUE(worker);
  std::thread user([this] {
    std::this_thread::sleep_for(200ms);
    stop.request();
    stop.request();
  });
  const WorkerTrouble trouble = trouble_of(*worker, {{"fake.scenario", "hang_at_load"}});
  user.join();
  EXPECT_EQ(trouble.failure.kind, "cancelled");
  EXPECT_TRUE(trouble.worker_lost);
}

// Also one that does not listen to signals.
TEST_F(Client, StopsAtTheFirstStopInAHello) {
  const std::string path = folder / "worker";
  ASSERT_TRUE(write_file_atomically(path, "#!/bin/sh\ntrap '' TERM INT\nsleep 600\n").ok());
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  std::thread user([this] {
    std::this_thread::sleep_for(200ms);
    stop.request();
  });
  const WorkerTrouble trouble = trouble_at_start({.engine = "deaf", .path = path});
  user.join();
  EXPECT_EQ(trouble.failure.kind, "cancelled");
}

TEST_F(Client, LetsTheMeasuringEndAtTheFirstStop) {
  int told = 0;
  options.on_stop_asked = [&told] { ++told; };
  auto worker = start();
  ASSERT_TRUE(worker);
  EXPECT_EQ(told, 0);
  stop.request();
  const auto loaded = worker->load(load_request({{"fake.time", "virtual"}}), stop);
  ASSERT_TRUE(std::holds_alternative<WorkerClient::Loaded>(loaded));
  EXPECT_TRUE(std::holds_alternative<WorkerClient::Measured>(
      worker->measure(Mode::kLatency, request, 5s, 1, stop, nullptr)));
  EXPECT_EQ(told, 1);
}

// The figures are those that the fake engine plants (workers/fake/fake_engine.cpp).
TEST_F(Client, AsksForOutputsProfileAndProbe) {
  auto worker = start();
  ASSERT_TRUE(worker);
  const auto loaded = worker->load(load_request({{"fake.time", "virtual"}, {"fake.median", "10ms"}}), stop);
  ASSERT_TRUE(std::holds_alternative<WorkerClient::Loaded>(loaded));

  Tensor input{.spec = load_request().inputs[0], .bytes = std::vector<std::byte>(4 * sizeof(float))};
  for (const std::vector<Tensor>& inputs : {std::vector<Tensor>{}, std::vector<Tensor>{input}}) {
    const auto outputs = worker->outputs(inputs, stop);
    ASSERT_TRUE(std::holds_alternative<std::vector<Tensor>>(outputs));
    const auto& tensors = std::get<std::vector<Tensor>>(outputs);
    ASSERT_EQ(tensors.size(), 1u);
    EXPECT_EQ(tensors[0].spec.name, "output");
    ASSERT_EQ(tensors[0].spec.shape.size(), 2u);
    EXPECT_EQ(tensors[0].spec.shape[0], 1);
    EXPECT_EQ(tensors[0].bytes.size(), static_cast<std::size_t>(tensors[0].spec.shape[1]) * sizeof(float));
  }

  const auto profile = worker->profile(5, stop);
  ASSERT_TRUE(std::holds_alternative<WorkerClient::Profiled>(profile));
  const auto& ops = std::get<WorkerClient::Profiled>(profile).ops;
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops[0].type, "Convolution");
  EXPECT_EQ(ops[0].time, 7ms);
  EXPECT_EQ(ops[0].time + ops[1].time + ops[2].time, 10ms);

  const auto ceiling = worker->probe("cpu", "bandwidth.memory", stop);
  ASSERT_TRUE(std::holds_alternative<Ceiling>(ceiling));
  EXPECT_EQ(std::get<Ceiling>(ceiling).value, 1e10);
  EXPECT_EQ(std::get<Ceiling>(ceiling).unit, Unit::kBytesPerSecond);

  const auto unknown = worker->probe("cpu", "launch.latency", stop);
  ASSERT_TRUE(std::holds_alternative<WorkerTrouble>(unknown));
  EXPECT_EQ(std::get<WorkerTrouble>(unknown).failure.kind, "unsupported");
  EXPECT_FALSE(std::get<WorkerTrouble>(unknown).worker_lost);
  EXPECT_TRUE(std::holds_alternative<WorkerClient::Profiled>(worker->profile(1, stop)));  // it serves on
}

TEST_F(Client, GuardsTheOptionalVerbsLikeTheOthers) {
  options.hang_limit = 1s;
  const auto trouble_with = [this](const std::string& cases, const auto& ask) {
    auto worker = start(script_worker(folder / "worker", hello_case() + load_case() + cases));
    if (!worker) return WorkerTrouble{};
    (void)worker->load(load_request(), stop);
    const auto reply = ask(*worker);
    const auto* trouble = std::get_if<WorkerTrouble>(&reply);
    EXPECT_NE(trouble, nullptr);
    return trouble == nullptr ? WorkerTrouble{} : *trouble;
  };
  const auto outputs = [this](WorkerClient& worker) { return worker.outputs({}, stop); };
  const auto profile = [this](WorkerClient& worker) { return worker.profile(3, stop); };
  const auto probe = [this](WorkerClient& worker) { return worker.probe("cpu", "bandwidth.memory", stop); };
  WorkerTrouble trouble = trouble_with("*) sleep 60;;", outputs);
  EXPECT_EQ(trouble.failure.kind, "hang");
  EXPECT_THAT(trouble.failure.text, HasSubstr("silent for 1 s during outputs"));
  EXPECT_TRUE(trouble.worker_lost);
  trouble = trouble_with("*) exit 3;;", profile);
  EXPECT_EQ(trouble.failure.kind, "crash");
  EXPECT_THAT(trouble.failure.text, HasSubstr("ended during profile"));
  trouble = trouble_with(R"(*) echo '{"id":3,"ok":true}' >&4;;)", probe);
  EXPECT_EQ(trouble.failure.kind, "protocol");
  EXPECT_THAT(trouble.failure.text, HasSubstr("broke the protocol during probe"));
  EXPECT_TRUE(trouble.worker_lost);
}

// Who sent a SIGKILL shows in the kernel's counters alone.
TEST_F(Client, TellsTheKernelsKillFromAnothers) {
  Counters counters;
  request.time_limit = 10min;
  const auto killed = [&](const FileSystem* files, bool count) {
    counters.files["/proc/vmstat"] = "pgfault 7\noom_kill 3\noom_kill_other 9\n";
    options.files = files;
    auto worker = start();
    if (!worker) return WorkerTrouble{};
    return trouble_of(*worker, endless, [&, done = false](const Progress&) mutable {
      if (std::exchange(done, true)) return;
      if (count) counters.files["/proc/vmstat"] = "pgfault 8\noom_kill 4\noom_kill_other 9\n";
      kill(worker->pid(), SIGKILL);
    });
  };
  WorkerTrouble trouble = killed(&counters, true);
  EXPECT_EQ(trouble.failure.kind, "out_of_memory");
  EXPECT_THAT(trouble.failure.text,
              HasSubstr("by the kernel for want of memory: expected a reply; take a smaller batch"));
  trouble = killed(&counters, false);
  EXPECT_EQ(trouble.failure.kind, "crash");
  EXPECT_THAT(trouble.failure.text, HasSubstr("though the kernel counts no kill"));
  trouble = killed(nullptr, false);
  EXPECT_EQ(trouble.failure.kind, "crash");
  EXPECT_THAT(trouble.failure.text, HasSubstr("most likely by the kernel for want of memory"));
}

TEST_F(Client, SaysHowAWorkerEndedBetweenRequests) {
  auto worker = start();
  ASSERT_TRUE(worker);
  kill(worker->pid(), SIGTERM);
  std::optional<WorkerTrouble> ended;
  while (!(ended = worker->ended_between())) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(ended->failure.text, HasSubstr("ended between two requests (killed by signal 15"));
  EXPECT_TRUE(worker->ended_between().has_value());
}

TEST_F(Client, ReplacesTheWorkerThatItHeld) {
  auto worker = start();
  ASSERT_TRUE(worker);
  const int before = worker->pid();
  options.log_path = folder / "second.log";
  worker = start();
  EXPECT_NE(kill(before, 0), 0);  // ended and waited for
}

TEST_F(Client, EndsAWorkerThatDoesNotExit) {
  auto worker = start();
  ASSERT_TRUE(worker);
  const auto loaded =
      worker->load(load_request({{"fake.scenario", "ignore_exit"}, {"fake.time", "virtual"}}), stop);
  ASSERT_TRUE(std::holds_alternative<WorkerClient::Loaded>(loaded));
  const int pid = worker->pid();
  worker.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(Client, RefusesAnotherVersionOfTheProtocol) {
  const WorkerTrouble trouble = trouble_at_start(script_worker(folder / "worker", hello_case("2")));
  EXPECT_EQ(trouble.failure.kind, "protocol");
  EXPECT_THAT(trouble.failure.text,
              HasSubstr("speaks version 2 of the protocol: expected 1; build it again"));
}

// Nothing of it is sent: the worker is well, the model is not.
TEST_F(Client, BlamesTheModelForNamesThatFitNoRequest) {
  auto worker = start();
  ASSERT_TRUE(worker);
  LoadRequest request_of_names = load_request({{"fake.time", "virtual"}});
  request_of_names.inputs[0].name = std::string(2'000'000, 'n');
  const auto refused = worker->load(request_of_names, stop);
  const auto* trouble = std::get_if<WorkerTrouble>(&refused);
  ASSERT_NE(trouble, nullptr);
  EXPECT_EQ(trouble->failure.kind, "bad_model");
  EXPECT_THAT(trouble->failure.text, AllOf(HasSubstr("model a: expected names and shapes"),
                                           HasSubstr("a request of 1048576 bytes")));
  EXPECT_FALSE(trouble->worker_lost);
  EXPECT_TRUE(trouble->model_lost);
  EXPECT_TRUE(std::holds_alternative<WorkerClient::Loaded>(
      worker->load(load_request({{"fake.time", "virtual"}}), stop)));
}

TEST_F(Client, RefusesRepliesThatAreNone) {
  const auto trouble = [this](const std::string& cases) {
    return trouble_at_start(script_worker(folder / "worker", cases)).failure;
  };
  CellFailure failure = trouble(R"(*) echo 'Loading weights...' >&4;;)");
  EXPECT_EQ(failure.kind, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("found 'Loading weights...'"));
  failure = trouble(R"(*) echo '{"id":2,"ok":true}' >&4;;)");
  EXPECT_THAT(failure.text, HasSubstr("expected the reply to request 1, found one to 2"));
  failure = trouble(R"(*) echo '{"id":1,"ok":true}' >&4;;)");
  EXPECT_EQ(failure.kind, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("protocol"));
  failure = trouble(R"(*) exec 4>&-; sleep 60;;)");
  EXPECT_EQ(failure.kind, "protocol");
  EXPECT_THAT(failure.text, HasSubstr("closed its pipe during hello but still ran"));
}

TEST_F(Client, RefusesSamplesThatNoClockGives) {
  // Two blobs of two integers each, in octal, the times 1 and 1; start_ns 2, 1 is not in order.
  const auto number = [](char digit) {
    return std::string("\\00") + digit + "\\000\\000\\000\\000\\000\\000\\000";
  };
  const auto measure_case = [&](const std::string& members, const std::string& starts) {
    return R"(*'"measure"'*) echo '{"id":3,"ok":true,"first_call_ns":5,"warmup_calls":1,"warmup_ns":5,"stop_reason":"fixed_count",)"
           R"("started":{"monotonic_ns":1,"realtime_ns":1},"memory":{},)" +
           members +
           R"("blobs":[{"name":"start_ns","type":"i64","count":2},{"name":"host_ns","type":"i64","count":2}]}' >&4; printf ')" +
           starts + number('1') + number('1') + "' >&4;;";
  };
  const auto text = [&](Mode mode, const std::string& members, const std::string& starts) {
    const WorkerProgram program =
        script_worker(folder / "worker", hello_case() + load_case() + measure_case(members, starts));
    auto worker = start(program);
    if (!worker) return std::string();
    (void)worker->load(load_request(), stop);
    const auto measured = worker->measure(mode, request, 1s, 1, stop, nullptr);
    const auto* trouble = std::get_if<WorkerTrouble>(&measured);
    return trouble == nullptr ? "" : trouble->failure.kind + " " + trouble->failure.text;
  };
  const std::string sorted = number('1') + number('2');
  EXPECT_EQ(text(Mode::kLatency, "", sorted), "");
  EXPECT_THAT(text(Mode::kLatency, "", number('2') + number('1')),
              AllOf(HasSubstr("protocol"), HasSubstr("in the order of their starts")));
  EXPECT_THAT(text(Mode::kThroughput, R"("window_ns":null,"completed":null,)", sorted),
              HasSubstr("expected a window"));
  EXPECT_THAT(text(Mode::kThroughput, R"("window_ns":0,"completed":2,)", sorted),
              HasSubstr("expected a window"));
  EXPECT_EQ(text(Mode::kThroughput, R"("window_ns":9,"completed":2,)", sorted), "");
  EXPECT_THAT(text(Mode::kThroughput, R"("window_ns":9,"completed":10000,)", sorted),
              AllOf(HasSubstr("protocol"), HasSubstr("found 2 samples of 10000 completed calls")));
  EXPECT_THAT(text(Mode::kLatency, "", number('1') + number('1')), HasSubstr("found call 1 inside call 0"));
  EXPECT_THAT(text(Mode::kLatency, "", number('0') + number('1')), HasSubstr("found 0"));
  request.fixed_calls = 3;
  EXPECT_THAT(text(Mode::kLatency, "", sorted), HasSubstr("expected 3 timed calls, found 2"));
}

}  // namespace
}  // namespace deepgap::run
