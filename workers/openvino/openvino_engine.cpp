#include "openvino_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/text.h"
#include "compile_options.h"
#include "engine_errors.h"
#include "input_values.h"
#include "process_settings.h"

namespace deepgap::openvino {
namespace {

using run::EngineFailure;
using run::Outcome;
using namespace run::failures;

constexpr int kProfileWarmup = 3;

EngineFailure failure(std::string_view kind, std::string message) {
  return {std::string(kind), std::move(message), std::nullopt};
}

// Runs a body that uses OpenVINO; what it throws becomes a failure, of the kind `otherwise` where the text
// says no more.
template <typename Body>
Outcome guarded(std::string_view otherwise, Body body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return failure_of(exception, otherwise);
  }
}

// "2026.4.1" of the build number "2026.4.1-22982-...".
std::string engine_version() {
  const std::string build = ov::get_openvino_version().buildNumber;
  return build.substr(0, build.find('-'));
}

// As the kernel names it. Asking OpenVINO would start its threads before the process settings are known.
std::string processor_name() {
  const auto text = RootedFileSystem().read("/proc/cpuinfo");
  if (!text.ok()) return "CPU";
  for (const auto& line : split(*text, '\n'))
    if (line.starts_with("model name"))
      if (const auto colon = line.find(':'); colon != std::string::npos)
        return printable(trim(std::string_view(line).substr(colon + 1)), 100);
  return "CPU";
}

std::string name_of_port(const ov::Output<const ov::Node>& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

std::string input_names(const ov::Model& model) {
  std::vector<std::string> names;
  for (const auto& input : model.inputs()) names.push_back(name_of_port(input));
  return join(names, ", ");
}

std::vector<std::int64_t> extents_of(const ov::Shape& shape) {
  return {shape.begin(), shape.end()};
}
ov::Shape shape_of(const std::vector<std::int64_t>& extents) {
  return {extents.begin(), extents.end()};
}

Nanoseconds now() {
  return SystemClock().monotonic();
}

}  // namespace

OpenvinoEngine::OpenvinoEngine() {
  description_.name = "openvino";
  description_.version = engine_version();
  Device device;
  device.address = "cpu";
  device.name = processor_name();
  description_.devices = {device};
  description_.precisions = {{Precision::kFp32, run::PrecisionMaker::kEngine}};
  description_.model_formats = {"onnx"};
  description_.settings = setting_names();
  description_.process_settings = {std::string(settings::kAffinity), std::string(settings::kHugePages)};
  description_.polls = true;
  description_.outputs = true;
  description_.profile = true;
}

OpenvinoEngine::~OpenvinoEngine() {
  unload();
}

run::EngineDescription OpenvinoEngine::describe() {
  return description_;
}

void OpenvinoEngine::unload() {
  // Calls that a measuring left in flight call back into this object.
  for (auto& slot : slots_)
    for (auto& request : slot.requests) {
      try {
        request.wait();
      } catch (const std::exception&) {
        // Its failure was told, or nobody waits for it any more.
      }
    }
  slots_.clear();
  inputs_.clear();
  ended_.clear();
  compiled_ = {};
  model_.reset();
}

Outcome OpenvinoEngine::load(const run::LoadRequest& request, run::LoadReply& reply) {
  const Nanoseconds begun_at = now();
  unload();
  if (!core_) {
    if (const auto applied = apply_process_settings(request.settings); !applied.ok())
      return failure(kBadRequest, applied.error().message());
    if (Outcome outcome = guarded(kInternal,
                                  [&]() -> Outcome {
                                    core_ = std::make_unique<ov::Core>();
                                    return {};
                                  });
        !outcome.ok())
      return outcome;
  }
  auto properties = compile_properties(request);
  if (!properties.ok()) return failure(kBadRequest, properties.error().message());
  config_ = std::move(*properties);
  reply.other_time = now() - begun_at;
  if (Outcome outcome = read(request); !outcome.ok()) return outcome;
  if (Outcome outcome = shape(request); !outcome.ok()) return outcome;
  // What fails from here on may be this batch's or this moment's: it costs the cell, not every cell of the
  // model.
  return guarded(kInternal, [&]() -> Outcome {
    compiled_ = core_->compile_model(model_, "CPU", config_);
    const Nanoseconds compiled_at = now();
    make_inputs(request);
    reply.other_time += now() - compiled_at;
    make_slots(request);
    reply.slots = static_cast<int>(slots_.size());
    reply.settings = effective_settings(compiled_, request);
    for (auto& row : effective_process_settings(request.settings)) reply.settings.push_back(std::move(row));
    reply.outputs = output_specs();
    return {};
  });
}

Outcome OpenvinoEngine::read(const run::LoadRequest& request) {
  if (!RootedFileSystem().exists(request.model_path))
    return failure(kBadModel, "expected the model " + printable(request.model_path) + ", found no such file");
  return guarded(kBadModel, [&]() -> Outcome {
    model_ = core_->read_model(request.model_path);
    return {};
  });
}

// Gives every input the static shape that the request says, and sees that both name the same inputs.
Outcome OpenvinoEngine::shape(const run::LoadRequest& request) {
  if (model_->inputs().size() != request.inputs.size())
    return failure(kBadRequest,
                   fmt::format("expected the {} inputs of the model ({}), found {}", model_->inputs().size(),
                               input_names(*model_), request.inputs.size()));
  std::map<std::string, ov::PartialShape> shapes;
  for (const auto& input : request.inputs) {
    const auto wanted = element_type(input.dtype);
    if (!wanted)
      return failure(kUnsupported,
                     "expected an element type of OpenVINO, found '" + printable(input.dtype, 60) + "'");
    const auto& ports = model_->inputs();
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& candidate) {
      return name_of_port(candidate) == input.name;
    });
    if (port == ports.end())
      return failure(kBadRequest, fmt::format("expected inputs named {}, found '{}'", input_names(*model_),
                                              printable(input.name, 60)));
    if (port->get_element_type() != *wanted)
      return failure(kBadRequest, fmt::format("expected the input '{}' to be {} as in the model, found {}",
                                              input.name, onnx_name(port->get_element_type()), input.dtype));
    shapes[input.name] = ov::PartialShape(shape_of(input.shape));
  }
  return guarded(kBadRequest, [&]() -> Outcome {
    model_->reshape(shapes);
    return {};
  });
}

void OpenvinoEngine::make_inputs(const run::LoadRequest& request) {
  const Random seeded(request.seed);
  for (int buffer = 0; buffer < request.input_buffers; ++buffer) {
    Random random = seeded.fork(static_cast<std::uint64_t>(buffer));
    auto& tensors = inputs_.emplace_back();
    for (const auto& port : compiled_.inputs()) {
      const auto spec = std::find_if(
          request.inputs.begin(), request.inputs.end(),
          [&](const run::TensorSpec& candidate) { return candidate.name == name_of_port(port); });
      ov::Tensor tensor(port.get_element_type(), port.get_shape());
      const bool found = spec != request.inputs.end();
      fill_random(tensor, found ? spec->low : 0, found ? spec->high : 1, random);
      tensors.push_back(std::move(tensor));
    }
  }
}

ov::InferRequest OpenvinoEngine::bound_request(std::size_t buffer) {
  ov::InferRequest request = compiled_.create_infer_request();
  for (std::size_t i = 0; i < inputs_[buffer].size(); ++i) request.set_input_tensor(i, inputs_[buffer][i]);
  return request;
}

void OpenvinoEngine::make_slots(const run::LoadRequest& request) {
  std::size_t count = 1;
  if (request.mode != Mode::kLatency)
    count = request.in_flight ? static_cast<std::size_t>(*request.in_flight)
                              : compiled_.get_property(ov::optimal_number_of_infer_requests);
  slots_.resize(std::max<std::size_t>(1, count));
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    for (std::size_t buffer = 0; buffer < inputs_.size(); ++buffer) {
      // Each slot begins with another buffer.
      slot.requests.push_back(bound_request((index + buffer) % inputs_.size()));
      // For start_async() alone: infer() does not call back.
      slot.requests.back().set_callback([this, index](std::exception_ptr exception) {
        const Ended ended{{static_cast<int>(index), now()}, std::move(exception)};
        {
          const std::lock_guard lock(mutex_);
          ended_.push_back(ended);
        }
        ended_any_.notify_one();
      });
    }
  }
}

std::vector<run::TensorSpec> OpenvinoEngine::output_specs() const {
  std::vector<run::TensorSpec> specs;
  for (const auto& port : compiled_.outputs()) {
    const ov::PartialShape& shape = port.get_partial_shape();
    // A shape that the values decide is not known beforehand.
    specs.push_back({name_of_port(port), onnx_name(port.get_element_type()),
                     shape.is_static() ? extents_of(shape.to_shape()) : std::vector<std::int64_t>{}});
  }
  return specs;
}

Outcome OpenvinoEngine::call() {
  try {
    slots_.front().take().infer();
    return {};
  } catch (const std::exception& exception) {
    return failure_of(exception, kInternal);
  }
}

Outcome OpenvinoEngine::enqueue(int slot) {
  try {
    slots_[static_cast<std::size_t>(slot)].take().start_async();
    return {};
  } catch (const std::exception& exception) {
    return failure_of(exception, kInternal);
  }
}

Outcome OpenvinoEngine::wait_any(run::Completion& completion) {
  Ended ended;
  {
    std::unique_lock lock(mutex_);
    ended_any_.wait(lock, [this] { return !ended_.empty(); });
    ended = std::move(ended_.front());
    ended_.pop_front();
  }
  completion = ended.completion;
  if (!ended.exception) return {};
  return guarded(kInternal, [&]() -> Outcome {
    std::rethrow_exception(ended.exception);
    return {};
  });
}

bool OpenvinoEngine::done(int slot) {
  const std::lock_guard lock(mutex_);
  return std::any_of(ended_.begin(), ended_.end(),
                     [&](const Ended& ended) { return ended.completion.slot == slot; });
}

Outcome OpenvinoEngine::outputs(std::span<const run::Tensor> inputs, std::vector<run::Tensor>& outputs) {
  return guarded(kInternal, [&]() -> Outcome {
    ov::InferRequest request = bound_request(0);
    for (const auto& input : inputs) {
      const auto ports = compiled_.inputs();
      const auto port = std::find_if(ports.begin(), ports.end(), [&](const auto& candidate) {
        return name_of_port(candidate) == input.spec.name;
      });
      if (port == ports.end())
        return failure(kBadRequest, fmt::format("expected inputs named {}, found '{}'", input_names(*model_),
                                                printable(input.spec.name, 60)));
      ov::Tensor tensor(port->get_element_type(), port->get_shape());
      if (onnx_name(port->get_element_type()) != input.spec.dtype ||
          tensor.get_byte_size() != input.bytes.size())
        return failure(kBadRequest,
                       fmt::format("expected {} bytes of {} for the input '{}', found {} of {}",
                                   tensor.get_byte_size(), onnx_name(port->get_element_type()),
                                   input.spec.name, input.bytes.size(), printable(input.spec.dtype, 60)));
      std::memcpy(tensor.data(), input.bytes.data(), input.bytes.size());
      request.set_input_tensor(static_cast<std::size_t>(port - ports.begin()), tensor);
    }
    request.infer();
    std::size_t index = 0;
    for (const auto& port : compiled_.outputs()) {
      const ov::Tensor tensor = request.get_output_tensor(index++);
      run::Tensor output{
          {name_of_port(port), onnx_name(tensor.get_element_type()), extents_of(tensor.get_shape())}, {}};
      output.bytes.resize(tensor.get_byte_size());
      if (!output.bytes.empty()) std::memcpy(output.bytes.data(), tensor.data(), output.bytes.size());
      outputs.push_back(std::move(output));
    }
    return {};
  });
}

Outcome OpenvinoEngine::profile(int calls, std::vector<run::OpTime>& ops) {
  return guarded(kInternal, [&]() -> Outcome {
    // A model of its own: the counters cost time, which the measured one shall not have.
    ov::AnyMap config = config_;
    config.insert(ov::enable_profiling(true));
    ov::CompiledModel profiled = core_->compile_model(model_, "CPU", config);
    ov::InferRequest request = profiled.create_infer_request();
    for (std::size_t i = 0; i < inputs_.front().size(); ++i) request.set_input_tensor(i, inputs_.front()[i]);
    for (int i = 0; i < kProfileWarmup; ++i) request.infer();
    std::map<std::string, std::size_t> index;  // of a node in ops, which keep the order of execution
    std::vector<std::int64_t> totals;          // ns
    for (int i = 0; i < calls; ++i) {
      request.infer();
      for (const auto& info : request.get_profiling_info()) {
        if (info.status != ov::ProfilingInfo::Status::EXECUTED) continue;
        const auto [entry, added] = index.try_emplace(info.node_name, ops.size());
        if (added) {
          ops.push_back({info.node_name, info.node_type, info.exec_type, Nanoseconds{}});
          totals.push_back(0);
        }
        totals[entry->second] += std::chrono::duration_cast<Nanoseconds>(info.real_time).count();
      }
    }
    for (std::size_t i = 0; i < ops.size(); ++i) ops[i].time = Nanoseconds(totals[i] / calls);
    return {};
  });
}

}  // namespace deepgap::openvino
