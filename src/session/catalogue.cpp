#include "session/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "core/workload.h"
#include "graph/builtin.h"
#include "hw/cpu.h"
#include "report/views.h"
#include "run/engine_registry.h"
#include "trace/importer.h"

namespace deepgap::session {
namespace {

report::EngineRow engine_row(const std::string& name, const run::WorkerProgram& program) {
  report::EngineRow row{.name = name, .program = program.path};
  const Result<run::EngineDescription> description = run::describe_worker(program);
  if (!description.ok()) {
    row.reason = description.error().message();
    return row;
  }
  row.available = true;
  row.version = description->version;
  for (const Device& device : description->devices) row.devices.push_back(device.address);
  for (const auto& [precision, maker] : description->precisions) {
    row.precisions.emplace_back(name_of(precision),
                                maker == run::PrecisionMaker::kEngine ? "engine" : "graph_pass");
  }
  row.settings = description->settings;
  return row;
}

bool is_called(const Device& device, const std::string& name) {
  const std::string wanted = lower(name);
  return lower(device.address) == wanted || lower(device.name) == wanted ||
         std::any_of(device.aliases.begin(), device.aliases.end(),
                     [&](const std::string& alias) { return lower(alias) == wanted; });
}

}  // namespace

Result<Answer> engines(const Environment& environment) {
  std::vector<report::EngineRow> rows;
  const std::vector<run::WorkerProgram> workers = run::find_workers(environment.program_folder);
  for (const run::WorkerProgram& worker : workers) rows.push_back(engine_row(worker.engine, worker));
  for (const run::KnownEngine& known : run::known_engines()) {
    const auto here = [&known](const report::EngineRow& row) { return row.name == known.name; };
    if (std::any_of(rows.begin(), rows.end(), here)) continue;
    rows.push_back(
        {.name = std::string(known.name), .reason = fmt::format("not built here: it needs {}", known.needs)});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.available != b.available ? a.available : a.name < b.name;
  });
  return Answer{.document = report::engines_document(rows)};
}

Result<Answer> models() {
  std::vector<report::ModelRow> rows;
  for (const graph::BuiltinModel* model : graph::builtin_models()) {
    report::ModelRow row{.name = std::string(model->name),
                         .title = std::string(model->title),
                         .inputs = std::string(model->inputs),
                         .parameter_count = model->parameter_count,
                         .flops = 2 * model->multiply_adds,
                         .source = std::string(model->source)};
    for (const graph::BuiltinParameter& parameter : model->parameters) {
      row.parameters.emplace_back(fmt::format("{}={}", parameter.name, parameter.standard),
                                  std::string(parameter.meaning));
    }
    rows.push_back(std::move(row));
  }
  return Answer{.document = report::models_document(rows)};
}

Result<Answer> devices(const Environment& environment, const std::optional<std::string>& name) {
  std::vector<Device> found;
  DEEPGAP_ASSIGN(const hw::CpuInfo cpu, hw::probe_cpu(*environment.files, hw::native_cpuid()));
  found.push_back(hw::to_device(cpu));
  for (DeviceFact& fact : hw::momentary_facts(cpu)) found.back().facts.push_back(std::move(fact));
  if (name) {
    std::vector<std::string> names;
    for (const Device& device : found) {
      names.push_back(device.address);
      names.push_back(device.name);
      names.insert(names.end(), device.aliases.begin(), device.aliases.end());
    }
    std::erase_if(found, [&name](const Device& device) { return !is_called(device, *name); });
    if (found.empty()) return missing(unknown_name("device", *name, names));
  }
  return Answer{.document = report::devices_document(found)};
}

Result<Answer> formats() {
  std::vector<report::FormatRow> rows;
  for (const trace::Importer* importer : trace::importers()) {
    const trace::Format& format = importer->format();
    rows.push_back({.id = std::string(format.id),
                    .title = std::string(format.title),
                    .content = std::string(format.content),
                    .basis = std::string(format.basis)});
  }
  return Answer{.document = report::formats_document(rows)};
}

}  // namespace deepgap::session
