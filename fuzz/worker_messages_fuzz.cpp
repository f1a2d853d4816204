// Either end of a worker's pipe: the input is what the other end sends.
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "run/protocol.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

constexpr int kMostMessages = 200;

// A file in memory that is read from its start: as good as a pipe, and never full.
class InputFile {
 public:
  explicit InputFile(std::string_view bytes) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    require(descriptor_ >= 0 &&
                write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
                lseek(descriptor_, 0, SEEK_SET) == 0,
            "a file in memory can be written");
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// What was understood can be said, and is understood as the same.
template <typename Decode>
void comes_back(const run::Message& message, Decode decode) {
  const auto reply = decode(message);
  if (!checked(reply)) return;
  const run::Message said = run::encode_reply(1, *reply);
  const auto again = decode(said);
  require(checked(again), "a reply that was read can be sent and read");
  require(run::encode_reply(1, *again).header == said.header, "a reply comes back as it was");
}

void read_as_core(const run::Message& message) {
  if (const auto incoming = run::classify(message); checked(incoming)) {
    (void)printable(incoming->failure.message);
  }
  comes_back(message, run::decode_hello_reply);
  comes_back(message, run::decode_load_reply);
  comes_back(message, run::decode_measure_reply);
  comes_back(message, run::decode_run_reply);
  comes_back(message, [](const run::Message& m) { return run::decode_outputs_reply(m); });
  comes_back(message, run::decode_profile_reply);
  comes_back(message, run::decode_probe_reply);
  comes_back(message, run::decode_memory_reply);
  comes_back(message, run::decode_poll_reply);
}

void read_as_worker(const run::Message& message) {
  const auto received = run::decode_request(message);
  if (!checked(received)) return;
  if (!received->request) {
    (void)run::encode_failure(received->id, received->failure);
    return;
  }
  const run::Message said = run::encode(received->id, *received->request);
  const auto again = run::decode_request(said);
  require(checked(again) && again->request.has_value(), "a request that was read can be sent and read");
  require(run::encode(again->id, *again->request).header == said.header, "a request comes back as it was");
}

void survive(std::string_view input) {
  const InputFile file(input);
  run::MessageReader reader(file.descriptor());
  for (int i = 0; i < kMostMessages; ++i) {
    const auto outcome = reader.read(Nanoseconds(0));
    if (!checked(outcome)) continue;  // behind a broken line it goes on
    if (outcome->status == run::ReadStatus::kEnded) return;
    require(outcome->status == run::ReadStatus::kMessage, "a file is never waited for");
    for (const run::Blob& blob : outcome->message.blobs) {
      require(blob.bytes.size() % run::element_size(blob.type) == 0, "a blob holds whole elements");
      if (blob.type == run::ElementType::kI64) (void)run::int64_values(blob);
    }
    read_as_core(outcome->message);
    read_as_worker(outcome->message);
  }
}

std::string on_the_wire(const run::Message& message) {
  std::string bytes = message.header + "\n";
  for (const run::Blob& blob : message.blobs)
    bytes.append(reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size());
  return bytes;
}

std::vector<Seed> replies() {
  run::HelloReply hello;
  hello.engine.name = "fake";
  hello.engine.version = "1";
  hello.engine.devices = {{.address = "cpu",
                           .name = "Planted CPU",
                           .aliases = {"xeon"},
                           .facts = {{"cores.physical", "2", ""}},
                           .ceilings = {{.quantity = "flops.fp32.vector", .value = 1e12, .note = "n"}}}};
  hello.engine.precisions = {{Precision::kFp32, run::PrecisionMaker::kEngine}};
  hello.engine.model_formats = {"onnx"};
  hello.engine.settings = {"cpu.threads"};
  hello.engine.process_settings = {"cpu.threads"};
  hello.engine.probes = {"bandwidth.memory"};
  hello.verbs = {"hello", "load", "measure"};
  run::LoadedReply load;
  load.load_time = Nanoseconds(5);
  load.load.settings = {{"cpu.threads", "2", "2"}};
  load.load.outputs = {{"y", "float32", {1, 4}}};
  run::MeasureReply measure;
  measure.first_call = Nanoseconds(9);
  measure.window = Nanoseconds(100);
  measure.completed = 2;
  measure.samples = {.start_ns = {1, 2}, .host_ns = {3, 4}, .enqueue_ns = {1, 1}, .device_ns = {2, 2}};
  measure.memory.peak_process = deepgap::Bytes{5};
  const run::OutputsReply outputs{{{{"y", "float32", {1, 2}}, std::vector<std::byte>(8)}}};
  const run::ProfileReply profile{{{"conv1", "Convolution", "jit_fp32", Nanoseconds(7)}}, ""};
  const run::ProbeReply probe{{.quantity = "bandwidth.memory", .value = 1e10, .unit = Unit::kBytesPerSecond}};
  const run::PollReply poll{{{.slot = 0, .completed_at = Nanoseconds(8)}}};
  return {
      {"hello", on_the_wire(encode_reply(1, hello))},
      {"load", on_the_wire(encode_reply(2, load))},
      {"measure", on_the_wire(encode_reply(3, measure))},
      {"run", on_the_wire(encode_reply(4, run::RunReply{Nanoseconds(6), {Nanoseconds(1), Nanoseconds(2)}}))},
      {"outputs", on_the_wire(encode_reply(5, outputs))},
      {"profile", on_the_wire(encode_reply(6, profile))},
      {"probe", on_the_wire(encode_reply(7, probe))},
      {"memory", on_the_wire(encode_reply(8, run::MemoryReply{measure.memory}))},
      {"poll", on_the_wire(encode_reply(9, poll))},
      {"empty", on_the_wire(encode_reply(10, run::EmptyReply{}))},
      {"failure",
       on_the_wire(run::encode_failure(11, {"out_of_memory", "it needs more", deepgap::Bytes{1}}))},
      {"progress",
       on_the_wire(run::encode_progress(12, {.calls = 3, .median = Nanoseconds(4), .width = 0.1}))}};
}

std::vector<Seed> requests() {
  run::LoadRequest load;
  load.model_path = "/m.onnx";
  load.inputs = {{"input", "float32", {8, 3, 4, 4}, -1, 1}};
  load.in_flight = 2;
  load.settings = {{"cpu.threads", "2"}};
  run::MeasureVerb measure;
  measure.options.warmup_fixed_calls = 20;
  measure.options.start_at = Nanoseconds(5);
  const run::OutputsVerb outputs{{{{"x", "int64", {2}}, std::vector<std::byte>(16)}}};
  std::vector<Seed> seeds;
  for (const run::Request& request :
       {run::Request(run::HelloVerb{}), run::Request(load), run::Request(measure),
        run::Request(run::CancelVerb{}), run::Request(outputs), run::Request(run::ProfileVerb{}),
        run::Request(run::ProbeVerb{"cpu", "bandwidth.memory"}), run::Request(run::EnqueueVerb{1}),
        run::Request(run::ExitVerb{})}) {
    seeds.push_back({"ask_" + std::string(run::verb_of(request)), on_the_wire(run::encode(1, request))});
  }
  return seeds;
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds = replies();
  const std::vector<Seed> more = requests();
  seeds.insert(seeds.end(), more.begin(), more.end());
  seeds.push_back({"several", seeds[0].bytes + "garbage\n" + seeds[2].bytes + seeds[9].bytes});
  seeds.push_back({"endless_blob",
                   R"({"id":1,"ok":true,"blobs":[{"name":"x","type":"i64","count":500000000}]})"
                   "\nabc"});
  const std::string deep(100'000, '[');
  seeds.push_back({"deep", R"({"id":1,"ok":true,"blobs":[)" + deep + std::string(deep.size(), ']') + "]}\n"});
  seeds.push_back(
      {"deep_member", R"({"id":1,"ok":true,"load_ns":)" + deep + std::string(deep.size(), ']') + "}\n"});
  return seeds;
}

}  // namespace

const Target kWorkerMessages{"worker_messages", "either end of a worker's pipe", survive, seeds};

}  // namespace deepgap::fuzz
