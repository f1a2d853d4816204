#include "session/sweep_request.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace deepgap::session {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json names_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(name_of(value));
  return list;
}

template <typename T>
void put(Json& json, const char* name, const std::optional<T>& value) {
  if (value) json[name] = *value;
}
void put(Json& json, const char* name, const std::optional<Nanoseconds>& value) {
  if (value) json[name] = value->count();
}

template <typename T>
void take(const Json& json, const char* name, std::optional<T>& value) {
  if (json.contains(name)) value = json.at(name).get<T>();
}
void take(const Json& json, const char* name, std::optional<Nanoseconds>& value) {
  if (json.contains(name)) value = Nanoseconds{json.at(name).get<std::int64_t>()};
}

Json to_json(const RunOptions& options) {
  Json json;
  json["models"] = options.models;
  json["dims"] = options.dims;
  json["engines"] = options.engines;
  json["devices"] = options.devices;
  json["precisions"] = names_of(options.precisions);
  json["batches"] = options.batches;
  json["modes"] = names_of(options.modes);
  json["settings"] = options.settings;
  put(json, "time_limit_ns", options.time_limit);
  put(json, "target", options.target);
  put(json, "repeats", options.repeats);
  put(json, "most_repeats", options.most_repeats);
  put(json, "in_flight", options.in_flight);
  put(json, "input_buffers", options.input_buffers);
  put(json, "hang_limit_ns", options.hang_limit);
  put(json, "seed", options.seed);
  json["isolate_cell"] = options.isolation == run::Isolation::kCell;
  put(json, "preset", options.preset);
  json["preset_precisions"] = options.preset_precisions;
  json["like_published"] = options.like_published;
  return json;
}

}  // namespace

std::string request_json(const RunOptions& options) {
  return to_json(options).dump();
}

Result<RunOptions> parse_request(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    RunOptions options;
    options.models = json.at("models").get<std::vector<std::string>>();
    options.dims = json.at("dims").get<std::map<std::string, std::int64_t>>();
    options.engines = json.at("engines").get<std::vector<std::string>>();
    options.devices = json.at("devices").get<std::vector<std::string>>();
    for (const auto& name : json.at("precisions")) {
      const auto precision = parse_precision(name.get<std::string>());
      if (!precision)
        return bad_input("expected the name of a precision in the stored sweep, found '" +
                         printable(name.get<std::string>()) + "'");
      options.precisions.push_back(*precision);
    }
    options.batches = json.at("batches").get<std::vector<std::int64_t>>();
    for (const auto& name : json.at("modes")) {
      const auto mode = parse_mode(name.get<std::string>());
      if (!mode)
        return bad_input("expected the name of a mode in the stored sweep, found '" +
                         printable(name.get<std::string>()) + "'");
      options.modes.push_back(*mode);
    }
    options.settings = json.at("settings").get<std::map<std::string, std::string>>();
    take(json, "time_limit_ns", options.time_limit);
    take(json, "target", options.target);
    take(json, "repeats", options.repeats);
    take(json, "most_repeats", options.most_repeats);
    take(json, "in_flight", options.in_flight);
    take(json, "input_buffers", options.input_buffers);
    take(json, "hang_limit_ns", options.hang_limit);
    take(json, "seed", options.seed);
    options.isolation = json.at("isolate_cell").get<bool>() ? run::Isolation::kCell : run::Isolation::kGroup;
    take(json, "preset", options.preset);
    options.preset_precisions = json.value("preset_precisions", false);
    options.like_published = json.at("like_published").get<bool>();
    return options;
  } catch (const nlohmann::json::exception& error) {
    return bad_input("the stored sweep's request cannot be read (" + printable(error.what()) +
                     "): it was made by another version; start a new sweep");
  }
}

std::vector<std::string> request_differences(const RunOptions& a, const RunOptions& b) {
  std::vector<std::string> names;
  const Json left = to_json(a);
  const Json right = to_json(b);
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name) || right.at(name) != value) names.push_back(name);
  }
  for (const auto& [name, value] : right.items()) {
    if (!left.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace deepgap::session
