// The part of the view `trace` that tells ops apart.
#include "report/views/trace_ops.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "report/json_of.h"

namespace deepgap::report {
namespace {

// The texts of a table that fits a hundred columns.
constexpr std::size_t kName = 20;
constexpr std::size_t kShapes = 24;

std::string cut(std::string text, std::size_t width) {
  if (text.size() <= width) return text;
  return text.substr(0, width - 2) + "..";
}

// Names differ at their ends.
std::string cut_within(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const std::size_t end = (width - 2) / 2;
  return text.substr(0, width - 2 - end) + ".." + text.substr(text.size() - end);
}

}  // namespace

// "void at::native::vectorized_elementwise_kernel<4, ...>(int, ...)" -> "vectorized_elementwise_kernel"
std::string short_name(const TraceFindings::Op& op) {
  if (op.kind == "op") return op.name.starts_with("aten::") ? op.name.substr(6) : op.name;
  if (op.kind != "kernel") return op.name;
  std::string_view name = op.name;
  if (name.starts_with("void ")) name.remove_prefix(5);
  // CUTLASS names the algorithm in its first template argument.
  for (const std::string_view wrapper : {"cutlass::Kernel2<", "cutlass::Kernel<"}) {
    if (!name.starts_with(wrapper)) continue;
    name.remove_prefix(wrapper.size());
    return std::string(name.substr(0, name.find('>')));
  }
  const std::string_view nameless = "(anonymous namespace)::";
  if (const std::size_t at = name.find(nameless); at < name.find('<'))
    name.remove_prefix(at + nameless.size());
  name = name.substr(0, name.find_first_of("<("));
  if (const std::size_t colons = name.rfind("::"); colons != std::string_view::npos)
    name.remove_prefix(colons + 2);
  return name.empty() ? op.name : std::string(name);
}

namespace {

// "47x3x256x256 64x3x7x7"; a scalar is "1".
std::string shapes_text(const TraceFindings::Op& op) {
  std::string text;
  for (const std::vector<std::int64_t>& shape : op.shapes) {
    if (!text.empty()) text += ' ';
    if (shape.empty()) text += '1';
    for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? "x" : "") + std::to_string(shape[i]);
    if (text.size() > kShapes) break;
  }
  return cut(text, kShapes);
}

// "fp32 of bf16": kept in half and multiplied in float, which is no fallback from another arithmetic.
std::string path_text(const TraceFindings::Op& op) {
  if (op.precision_path != "fp32" || op.dtypes.empty()) return op.precision_path;
  if (op.dtypes[0] == "bfloat16") return "fp32 of bf16";
  if (op.dtypes[0] == "float16") return "fp32 of fp16";
  return op.precision_path;
}

// Equal calls of all modules together.
struct Calls {
  const TraceFindings::Op* op = nullptr;  // one of them
  double count = 0;
  double total_ns = 0;
  double charge_ns = 0;
  double launch_wait_ns = 0;
  std::optional<double> flops;
};

// By the time that the device computed or waited for them, those that have any.
std::vector<Calls> without_modules(const std::vector<TraceFindings::Op>& ops) {
  const auto flops_of_one = [](const TraceFindings::Op& op) {
    return op.flops && op.count > 0 ? static_cast<double>(*op.flops) / op.count : -1;
  };
  const auto before = [&](const TraceFindings::Op* a, const TraceFindings::Op* b) {
    const double flops_a = flops_of_one(*a);
    const double flops_b = flops_of_one(*b);
    return std::tie(a->name, flops_a, a->shapes, a->dtypes) <
           std::tie(b->name, flops_b, b->shapes, b->dtypes);
  };
  std::vector<Calls> merged;
  std::map<const TraceFindings::Op*, std::size_t, decltype(before)> places(before);
  for (const TraceFindings::Op& op : ops) {
    if (op.charge_ns == 0 && op.launch_wait_ns == 0) continue;
    const auto [found, fresh] = places.try_emplace(&op, merged.size());
    if (fresh) merged.push_back({.op = &op, .flops = op.flops ? std::optional<double>(0) : std::nullopt});
    Calls& sum = merged[found->second];
    sum.count += op.count;
    sum.total_ns += static_cast<double>(op.total_ns);
    sum.charge_ns += static_cast<double>(op.charge_ns);
    sum.launch_wait_ns += static_cast<double>(op.launch_wait_ns);
    if (sum.flops) *sum.flops += static_cast<double>(op.flops.value_or(0));
  }
  std::stable_sort(merged.begin(), merged.end(), [](const Calls& a, const Calls& b) {
    return a.charge_ns + a.launch_wait_ns > b.charge_ns + b.launch_wait_ns;
  });
  return merged;
}

}  // namespace

std::optional<Table> ops_table(const TraceFindings& findings, const TraceMean& mean) {
  const std::vector<Calls> ops = without_modules(findings.ops);
  const std::size_t shown = std::min(findings.ops_shown, ops.size());
  if (shown == 0) return std::nullopt;
  const auto first = ops.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(shown);
  // The names of kernels need the room where most rows are kernels that no op launched.
  const auto shaped =
      std::count_if(first, last, [](const Calls& calls) { return !calls.op->shapes.empty(); });
  const bool shapes = 2 * shaped >= last - first;
  const bool rates = std::any_of(first, last, [](const Calls& calls) { return calls.flops.value_or(0) > 0; });
  // A device that mostly computes waits for no op in particular.
  const bool waits = mean.share(mean.label(findings, "idle_host_launch")) >= 0.05;
  Table table{.title = findings.device ? "Where the device's time went, by op, in a step"
                                       : "Where the time went, by op, in a step",
              .machine = false};
  table.columns = {{.id = "op", .title = "op"}};
  if (shapes) table.columns.push_back({.id = "shapes", .title = "shapes"});
  table.columns.push_back({.id = "count", .title = "count", .align = Align::kRight, .scale = plain()});
  table.columns.push_back({.id = "time", .title = "time", .align = Align::kRight, .scale = milliseconds()});
  table.columns.push_back({.id = "share", .title = "share", .align = Align::kRight, .scale = percent()});
  if (waits)
    table.columns.push_back({.id = "wait", .title = "wait", .align = Align::kRight, .scale = milliseconds()});
  table.columns.push_back({.id = "path", .title = "path"});
  if (rates) {
    table.columns.push_back({.id = "rate", .title = "", .align = Align::kRight, .scale = {1, "TFLOP/s", 3}});
  }
  table.columns.push_back({.id = "kind", .title = "kind"});
  for (auto calls = first; calls != last; ++calls) {
    const TraceFindings::Op& op = *calls->op;
    const double charge = calls->charge_ns;
    std::vector<Cell> row{cut_within(short_name(op), shapes ? kName : kName + kShapes)};
    if (shapes) row.emplace_back(op.shapes.empty() ? std::string(kBlank) : shapes_text(op));
    row.insert(row.end(), {calls->count, charge, mean.share(charge)});
    if (waits) row.emplace_back(calls->launch_wait_ns);
    row.emplace_back(path_text(op));
    if (rates) {
      const bool known = calls->flops && calls->total_ns > 0;
      const double rate = known ? *calls->flops / calls->total_ns / 1e3 : 0;
      row.emplace_back(rate >= 0.001 ? Cell(rate) : Cell(std::string(kBlank)));
    }
    row.emplace_back(op.family);
    table.rows.push_back(std::move(row));
  }
  double others = 0;
  double others_wait = 0;
  for (auto calls = last; calls != ops.end(); ++calls) {
    others += calls->charge_ns;
    others_wait += calls->launch_wait_ns;
  }
  const auto count = ops.end() - last;
  if (count > 0) {
    std::vector<Cell> row(table.columns.size(), std::string(kBlank));
    row[0] = std::to_string(count) + (count == 1 ? " other" : " others");
    row[shapes ? 3 : 2] = others;
    row[shapes ? 4 : 3] = mean.share(others);
    if (waits) row[shapes ? 5 : 4] = others_wait;
    table.rows.push_back(std::move(row));
  }
  return table;
}

nlohmann::ordered_json json_of_ops(const TraceFindings& findings) {
  Json list = Json::array();
  const auto put_text = [](Json& json, const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  };
  for (const TraceFindings::Op& op : findings.ops) {
    Json json{{"name", op.name}, {"kind", op.kind}};
    put_text(json, "class", op.op_class);
    json["shapes"] = op.shapes;
    json["dtypes"] = op.dtypes;
    put_text(json, "module_path", op.module_path);
    json["count"] = json_number(op.count);
    json["total_ns"] = op.total_ns;
    json["charge_ns"] = op.charge_ns;
    json["launch_wait_ns"] = op.launch_wait_ns;
    json["host_ns"] = op.host_ns;
    put(json, "flops", op.flops);
    put(json, "bytes", op.bytes);
    put_text(json, "precision_path", op.precision_path);
    json["kernels"] = json_number(op.kernels);
    put_text(json, "main_kernel", op.main_kernel);
    put_text(json, "kernel_family", op.family);
    if (op.copies > 0) {
      json["copies"] = json_number(op.copies);
      json["copy_ns"] = op.copy_ns;
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace deepgap::report
