// What the tests of the core's side share: the fake worker, requests for it, workers that are shell scripts.
// For tests only.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "run/engine_registry.h"
#include "run/plan.h"

namespace deepgap::run {

// All programs of a build are in one folder, the tests as well.
inline std::string build_folder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}
inline WorkerProgram fake_worker() {
  return {.engine = "fake", .path = build_folder() + "/deepgap-worker-fake"};
}

using Settings = std::map<std::string, std::string>;

// The fake engine, whatever settings a test plants.
inline EngineDescription fake_engine(const Settings& settings = {}) {
  EngineDescription engine;
  engine.name = "fake";
  engine.version = "1";
  engine.devices = {{.address = "cpu", .name = "Planted CPU"}};
  engine.precisions = {{Precision::kFp32, PrecisionMaker::kEngine},
                       {Precision::kInt8, PrecisionMaker::kEngine}};
  engine.model_formats = {"onnx"};
  for (const auto& [name, value] : settings) engine.settings.push_back(name);
  return engine;
}

inline PlannedModel small_model(const std::string& name) {
  return {.name = name,
          .path = "/nowhere/" + name + ".onnx",
          .hash = "00",
          .inputs = {{.name = "input", .dtype = "float32", .shape = {PlannedModel::kBatch, 4}}}};
}

// A sweep of the fake engine whose times are planted and not waited for.
inline SweepRequest fake_request(std::vector<std::string> models, std::vector<std::int64_t> batches,
                                 std::vector<Mode> modes, int repeats, const Settings& more = {}) {
  SweepRequest request{.engines = {"fake"}, .batches = std::move(batches), .modes = std::move(modes)};
  for (const std::string& name : models) request.models.push_back(small_model(name));
  request.settings = {{"fake.time", "virtual"}, {"fake.noise", "0.001"}};
  for (const auto& [name, value] : more) request.settings[name] = value;
  request.measure.repeats = request.measure.most_repeats = repeats;
  return request;
}

inline SweepPlan plan_of(const SweepRequest& request, const MachineLimits& limits = {}) {
  Result<SweepPlan> plan = plan_sweep(request, {{"fake", fake_engine(request.settings)}}, limits);
  if (!plan.ok()) {
    ADD_FAILURE() << plan.error().message();
    return {};
  }
  return std::move(*plan);
}

// A worker as a shell script: `cases` are branches of a case statement over the request's line, with $n as
// its id.
inline WorkerProgram script_worker(const std::string& path, const std::string& cases) {
  const std::string script = "#!/bin/sh\nn=0\nwhile read -r line; do\nn=$((n+1))\ncase \"$line\" in\n" +
                             cases + "\nesac\ndone <&3\n";
  EXPECT_TRUE(write_file_atomically(path, script).ok());
  EXPECT_EQ(chmod(path.c_str(), 0700), 0);
  return {.engine = "script", .path = path};
}
// The branch that answers hello, by default as this version.
inline std::string hello_case(const std::string& protocol = "1") {
  return R"(*'"hello"'*) echo '{"id":1,"ok":true,"protocol":)" + protocol +
         R"(,"engine":"script","engine_version":"1","capabilities":{"verbs":["hello","load","measure","exit"],)"
         R"("devices":[{"address":"cpu","name":"CPU","kind":"cpu"}],"precisions":[{"name":"fp32","by":"engine"}],)"
         R"("model_formats":["onnx"],"settings":[],"process_settings":[],"timers":[]}}' >&4;;)"
         "\n";
}
inline std::string load_case() {
  return R"(*'"load"'*) echo '{"id":2,"ok":true,"load_ns":1,"slots":1,"settings":[],"outputs":[]}' >&4;;)"
         "\n";
}

}  // namespace deepgap::run
