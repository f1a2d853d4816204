#include "session/sweep_request.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

void survive(std::string_view input) {
  const auto request = session::parse_request(std::string(input));
  if (!checked(request)) return;
  const auto again = session::parse_request(session::request_json(*request));
  require(checked(again), "a request that was read can be written and read");
  require(session::request_differences(*request, *again).empty(), "a request comes back as it was");
}

std::vector<Seed> seeds() {
  session::RunOptions full;
  full.models = {"resnet50", "a b.onnx"};
  full.dims = {{"seq", 128}};
  full.engines = {"openvino", "fake"};
  full.devices = {"cpu"};
  full.precisions = {Precision::kFp32, Precision::kInt8};
  full.batches = {1, 8};
  full.modes = {Mode::kLatency, Mode::kThroughput};
  full.settings = {{"cpu.threads", "2"}};
  full.time_limit = std::chrono::seconds(6);
  full.target = 0.01;
  full.repeats = 3;
  full.most_repeats = 10;
  full.in_flight = 2;
  full.input_buffers = 4;
  full.hang_limit = std::chrono::seconds(60);
  full.seed = 18446744073709551615u;
  full.isolation = run::Isolation::kCell;
  full.preset = "gdev-ai";
  full.like_published = true;
  return {{"full", session::request_json(full)}, {"empty", session::request_json({})}, {"none", "{}"}};
}

}  // namespace

const Target kSweepRequests{"sweep_requests", "the request that is stored with a sweep", survive, seeds};

}  // namespace deepgap::fuzz
