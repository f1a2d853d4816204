// OpenVINO on the CPU as an engine.
//
// A call is InferRequest::infer() (latency) or start_async() with a callback that stamps the completion
// (throughput). Inputs are bound beforehand: each slot has one request for each input buffer and uses them in
// turn, so that a timed call holds inference alone, as in OpenVINO's own benchmark_app. `fp32` sets the
// inference precision to f32: left to itself the engine computes in BF16 on machines that have it.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <openvino/openvino.hpp>
#include <vector>

#include "run/engine.h"

namespace deepgap::openvino {

class OpenvinoEngine final : public run::Engine {
 public:
  OpenvinoEngine();
  ~OpenvinoEngine() override;

  run::EngineDescription describe() override;
  run::Outcome load(const run::LoadRequest& request, run::LoadReply& reply) override;
  run::Outcome call() override;
  run::Outcome enqueue(int slot) override;
  run::Outcome wait_any(run::Completion& completion) override;
  bool done(int slot) override;
  run::Outcome outputs(std::span<const run::Tensor> inputs, std::vector<run::Tensor>& outputs) override;
  run::Outcome profile(int calls, std::vector<run::OpTime>& ops) override;

 private:
  struct Slot {
    std::vector<ov::InferRequest> requests;  // one for each input buffer
    std::size_t next = 0;
    ov::InferRequest& take() {
      ov::InferRequest& request = requests[next];
      next = next + 1 == requests.size() ? 0 : next + 1;
      return request;
    }
  };
  struct Ended {
    run::Completion completion;
    std::exception_ptr exception;
  };

  void unload();
  run::Outcome read(const run::LoadRequest& request);
  run::Outcome shape(const run::LoadRequest& request);
  void make_inputs(const run::LoadRequest& request);
  void make_slots(const run::LoadRequest& request);
  ov::InferRequest bound_request(std::size_t buffer);
  std::vector<run::TensorSpec> output_specs() const;

  run::EngineDescription description_;
  std::unique_ptr<ov::Core> core_;  // made at the first load, after the process settings
  std::shared_ptr<ov::Model> model_;
  ov::AnyMap config_;
  ov::CompiledModel compiled_;
  std::vector<std::vector<ov::Tensor>> inputs_;  // [buffer][input of the model]
  std::vector<Slot> slots_;

  std::mutex mutex_;  // of ended_
  std::condition_variable ended_any_;
  std::deque<Ended> ended_;
};

}  // namespace deepgap::openvino
