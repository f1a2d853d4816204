#include "report/json_of.h"

#include <cmath>

namespace deepgap::report {

Json json_number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: whole doubles below are exact integers
  if (std::nearbyint(value) == value && std::abs(value) < kExact) return static_cast<std::int64_t>(value);
  return value;
}

Json json_of(const Estimate& estimate) {
  Json json;
  const bool whole = estimate.unit == Unit::kNanoseconds || estimate.unit == Unit::kBytes;
  const auto number = [whole](double value) {
    return whole ? json_number(std::round(value)) : json_number(value);
  };
  json["value"] = number(estimate.value);
  if (estimate.lower) json["lower"] = number(*estimate.lower);
  if (estimate.upper) json["upper"] = number(*estimate.upper);
  json["confidence"] = estimate.confidence;
  json["n"] = estimate.n;
  json["unit"] = name_of(estimate.unit);
  json["method"] = estimate.method;
  return json;
}

Json json_of(std::span<const Diagnostic> diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    Json json;
    json["id"] = diagnostic.id;
    json["severity"] = name_of(diagnostic.severity);
    json["count"] = diagnostic.count;
    if (diagnostic.process) json["process"] = *diagnostic.process;
    if (!diagnostic.where.empty()) json["where"] = diagnostic.where;
    json["text"] = diagnostic.text;
    if (const std::string_view remedy = remedy_of(diagnostic.id); !remedy.empty()) json["remedy"] = remedy;
    list.push_back(std::move(json));
  }
  return list;
}

Json json_of(const Ceiling& ceiling) {
  Json json;
  json["quantity"] = ceiling.quantity;
  json["value"] = json_number(ceiling.value);
  json["unit"] = name_of(ceiling.unit);
  json["origin"] = name_of(ceiling.origin);
  if (!ceiling.note.empty()) json["note"] = ceiling.note;
  return json;
}

Json json_of(const Device& device) {
  Json json;
  json["name"] = device.name;
  json["aliases"] = device.aliases;
  json["kind"] = name_of(device.kind);
  if (!device.address.empty()) json["address"] = device.address;
  json["ceilings"] = Json::array();
  for (const Ceiling& ceiling : device.ceilings) json["ceilings"].push_back(json_of(ceiling));
  json["facts"] = Json::array();
  for (const DeviceFact& fact : device.facts) {
    Json entry;
    entry["name"] = fact.name;
    entry["value"] = fact.value;
    if (!fact.unit.empty()) entry["unit"] = fact.unit;
    json["facts"].push_back(std::move(entry));
  }
  return json;
}

Json json_of_settings(std::span<const Setting> settings) {
  Json requested = Json::object();
  Json effective = Json::object();
  for (const Setting& setting : settings) {
    if (setting.requested) requested[setting.name] = *setting.requested;
    if (setting.effective) effective[setting.name] = *setting.effective;
  }
  return Json{{"requested", std::move(requested)}, {"effective", std::move(effective)}};
}

Json json_of(const CellKey& key) {
  Json json;
  json["model"] = key.workload.model;
  json["engine"] = key.engine;
  json["device"] = key.device;
  json["precision"] = name_of(key.workload.precision);
  json["batch"] = key.workload.batch;
  json["mode"] = name_of(key.workload.mode);
  if (!key.workload.dims.empty()) json["dims"] = key.workload.dims;
  return json;
}

std::function<Json()> ready(Json json) {
  return [json = std::move(json)] { return json; };
}

}  // namespace deepgap::report
