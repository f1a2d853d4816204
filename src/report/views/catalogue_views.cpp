// engines, models, devices, formats: what there is and what can run here.

#include <fmt/format.h>

#include <cctype>

#include "base/text.h"
#include "base/units.h"
#include "report/json_of.h"
#include "report/views.h"

namespace deepgap::report {
namespace {

Document with_data(std::string schema, const char* member, Json list) {
  Document document{.schema = std::move(schema)};
  document.data = ready(Json{{member, std::move(list)}});
  return document;
}

std::string or_blank(const std::string& text) {
  return text.empty() ? std::string(kBlank) : text;
}

// "2097152" with unit "B" -> "2.097 MB"; other values as they are.
std::string fact_text(const DeviceFact& fact) {
  if (fact.unit == "B" && !fact.value.empty() && fact.value.size() < 18 &&
      fact.value.find_first_not_of("0123456789") == std::string::npos) {
    return format_bytes(Bytes{std::stoll(fact.value)});
  }
  return fact.unit.empty() ? fact.value : fact.value + " " + fact.unit;
}

}  // namespace

Document engines_document(std::span<const EngineRow> engines) {
  Table table;
  table.columns = {{.id = "engine", .title = "engine"},         {.id = "version", .title = "version"},
                   {.id = "available", .title = "available"},   {.id = "devices", .title = "devices"},
                   {.id = "precisions", .title = "precisions"}, {.id = "note", .title = "note"}};
  Json list = Json::array();
  for (const EngineRow& engine : engines) {
    std::vector<std::string> precisions;
    Json precision_list = Json::array();
    for (const auto& [name, by] : engine.precisions) {
      precisions.push_back(name);
      precision_list.push_back(Json{{"name", name}, {"by", by}});
    }
    table.rows.push_back({engine.name, engine.version, std::string(engine.available ? "yes" : "no"),
                          join(engine.devices, " "), join(precisions, " "), or_blank(engine.reason)});
    Json json;
    json["name"] = engine.name;
    json["available"] = engine.available;
    if (!engine.version.empty()) json["version"] = engine.version;
    if (!engine.program.empty()) json["program"] = engine.program;
    if (!engine.reason.empty()) json["reason"] = engine.reason;
    json["devices"] = engine.devices;
    json["precisions"] = std::move(precision_list);
    json["settings"] = engine.settings;
    list.push_back(std::move(json));
  }
  Document document = with_data("deepgap.engines/1", "engines", std::move(list));
  document.add(std::move(table));
  return document;
}

Document models_document(std::span<const ModelRow> models) {
  Table table;
  table.columns = {
      {.id = "model", .title = "model"},
      {.id = "title", .title = "what it is"},
      {.id = "inputs", .title = "inputs"},
      {.id = "dims", .title = "dimensions"},
      {.id = "parameters",
       .title = "parameters",
       .align = Align::kRight,
       .scale = {.divisor = 1e6, .unit = "M"}},
      {.id = "flops", .title = "work", .align = Align::kRight, .scale = {.divisor = 1e9, .unit = "GFLOP"}}};
  Json list = Json::array();
  for (const ModelRow& model : models) {
    std::vector<std::string> dims;
    Json parameters = Json::array();
    for (const auto& [name, meaning] : model.parameters) {
      dims.push_back(name);
      parameters.push_back(Json{{"name", name}, {"meaning", meaning}});
    }
    table.rows.push_back({model.name, model.title, model.inputs, or_blank(join(dims, " ")),
                          model.parameter_count, model.flops});
    Json json;
    json["name"] = model.name;
    json["title"] = model.title;
    json["inputs"] = model.inputs;
    json["dims"] = std::move(parameters);
    json["parameters"] = json_number(model.parameter_count);
    json["flops"] = json_number(model.flops);
    json["source"] = model.source;
    list.push_back(std::move(json));
  }
  Document document = with_data("deepgap.models/1", "models", std::move(list));
  document.add(std::move(table));
  document.add(
      Paragraph{"Work is of one sample; a multiply-add counts as 2. Any .onnx file is a model too."});
  return document;
}

Document devices_document(std::span<const Device> devices) {
  Json list = Json::array();
  for (const Device& device : devices) list.push_back(json_of(device));
  Document document = with_data("deepgap.devices/1", "devices", std::move(list));
  for (const Device& device : devices) {
    document.add(Heading{device.address.empty() ? device.name : device.address + "  " + device.name});
    Table facts;
    facts.columns = {{.id = "fact", .title = "fact"}, {.id = "value", .title = "value"}};
    for (const DeviceFact& fact : device.facts) facts.rows.push_back({fact.name, fact_text(fact)});
    if (!facts.rows.empty()) document.add(std::move(facts));
    Table ceilings;
    ceilings.columns = {{.id = "ceiling", .title = "ceiling"},
                        {.id = "value", .title = "value"},
                        {.id = "origin", .title = "origin"},
                        {.id = "note", .title = "note"}};
    for (const Ceiling& ceiling : device.ceilings) {
      ceilings.rows.push_back({ceiling.quantity, format_count(ceiling.value, name_of(ceiling.unit)),
                               std::string(name_of(ceiling.origin)), or_blank(ceiling.note)});
    }
    if (!ceilings.rows.empty()) document.add(std::move(ceilings));
  }
  return document;
}

Document formats_document(std::span<const FormatRow> formats) {
  Table table;
  table.columns = {{.id = "format", .title = "format"},
                   {.id = "title", .title = "what it is"},
                   {.id = "content", .title = "content used"},
                   {.id = "basis", .title = "tested with"}};
  Json list = Json::array();
  for (const FormatRow& format : formats) {
    table.rows.push_back({format.id, format.title, format.content, format.basis});
    Json json;
    json["id"] = format.id;
    json["title"] = format.title;
    json["content"] = format.content;
    json["basis"] = format.basis;
    list.push_back(std::move(json));
  }
  Document document = with_data("deepgap.formats/1", "formats", std::move(list));
  if (formats.empty()) {
    document.add(Paragraph{"This build reads no foreign formats: it measures and stores its own."});
  } else {
    document.add(std::move(table));
  }
  return document;
}

// A field of a column of numbers; text where it is none after all.
Json number_or_text(const std::string& field) {
  const Json number = Json::parse(field, nullptr, false);
  return number.is_number() ? number : Json(field);
}

Document export_document(const ExportFindings& findings) {
  std::vector<bool> holds_text;
  for (const std::string& column : findings.columns)
    holds_text.push_back(std::find(findings.text_columns.begin(), findings.text_columns.end(), column) !=
                         findings.text_columns.end());
  Table table;
  for (const std::string& column : findings.columns) table.columns.push_back({.id = column, .title = column});
  Json list = Json::array();
  for (const std::vector<std::string>& row : findings.rows) {
    Json json;
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(row[i].empty() ? Cell{} : Cell{row[i]});
      if (!row[i].empty()) json[findings.columns[i]] = holds_text[i] ? Json(row[i]) : number_or_text(row[i]);
    }
    table.rows.push_back(std::move(cells));
    list.push_back(std::move(json));
  }
  Json data{{"rows", std::move(list)}};
  if (!findings.notes.empty()) data["notes"] = findings.notes;
  Document document{.schema = "deepgap.export/1"};
  document.data = ready(std::move(data));
  for (std::string note : findings.notes) {
    note.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(note.front())));
    document.add(Paragraph{note + "."});
  }
  document.add(std::move(table));
  return document;
}

Document merge_document(const MergeFindings& findings) {
  Table table;
  table.columns = {{.id = "store", .title = "store"},
                   {.id = "added", .title = "added", .align = Align::kRight},
                   {.id = "extended", .title = "extended", .align = Align::kRight},
                   {.id = "present", .title = "already there", .align = Align::kRight}};
  Json list = Json::array();
  for (const auto& source : findings.sources) {
    table.rows.push_back({source.path, source.added, source.extended, source.present});
    list.push_back(Json{{"path", source.path},
                        {"added", source.added},
                        {"extended", source.extended},
                        {"present", source.present}});
  }
  Document document{.schema = "deepgap.merge/1"};
  document.data = ready(Json{{"database", findings.database}, {"sources", std::move(list)}});
  document.add(Paragraph{"Merged into " + findings.database + "."});
  document.add(std::move(table));
  return document;
}

}  // namespace deepgap::report
