#include "trace/op_records.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "trace/op_signature.h"

namespace deepgap::trace {
namespace {

// By what calls are equal; the texts by their numbers.
struct RowKey {
  std::uint32_t name = 0;
  std::uint32_t shapes = 0;
  std::uint32_t dtypes = 0;
  std::uint32_t module = 0;
  std::int64_t flops = -1;
  std::int64_t bytes = -1;
  bool operator==(const RowKey&) const = default;
};

struct RowKeyHash {
  std::size_t operator()(const RowKey& key) const {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32;
    };
    mix((std::uint64_t{key.name} << 32) | key.shapes);
    mix((std::uint64_t{key.dtypes} << 32) | key.module);
    mix(static_cast<std::uint64_t>(key.flops));
    mix(static_cast<std::uint64_t>(key.bytes));
    return static_cast<std::size_t>(hash);
  }
};

RowKey key_of(const Timeline& timeline, const TracedOp& op) {
  const Event& event = timeline.events[op.event];
  RowKey key{.name = event.name, .module = op.module};
  if (event.role == Role::kOp && event.detail != kNoDetail) {
    key.shapes = timeline.ops[event.detail].shapes;
    key.dtypes = timeline.ops[event.detail].dtypes;
  }
  if (op.flops) key.flops = op.flops->value;
  if (op.bytes) key.bytes = op.bytes->value;
  return key;
}

// Sums that are kept at the largest number; of hostile traces only.
void add(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

template <typename T>
void add(std::optional<T>& sum, const std::optional<T>& value) {
  if (!sum || !value || __builtin_add_overflow(sum->value, value->value, &sum->value)) sum.reset();
}

class Table {
 public:
  Table(const Timeline& timeline, const TracedOps& traced, const std::vector<std::size_t>& steps)
      : timeline_(timeline), traced_(traced) {
    row_of_.assign(traced.ops.size(), kNoRow);
    for (const std::size_t step : steps) {
      if (step >= wanted_.size()) wanted_.resize(step + 1, false);
      wanted_[step] = true;
    }
  }

  std::vector<OpRow> rows(std::size_t most) {
    for (std::uint32_t i = 0; i < traced_.ops.size(); ++i) {
      if (is_wanted(traced_.ops[i].step)) count(i);
    }
    OpRow rest;
    for (const Charge& charge : traced_.charges.charges) {
      if (!is_wanted(charge.step)) continue;
      add(charge.op == kNoOp ? rest.charge_ns : rows_[row_of(charge.op)].charge_ns, charge.ns);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].precision_path = main_path(i);
    std::stable_sort(rows_.begin(), rows_.end(), [](const OpRow& a, const OpRow& b) {
      return std::tuple(a.charge_ns, a.duration_ns, a.copy_ns, a.launch_wait_ns, a.host_ns) >
             std::tuple(b.charge_ns, b.duration_ns, b.copy_ns, b.launch_wait_ns, b.host_ns);
    });
    while (rows_.size() > most) {
      fold(rest, rows_.back());
      rows_.pop_back();
    }
    if (rest.count > 0 || rest.charge_ns > 0) rows_.push_back(rest);
    return std::move(rows_);
  }

 private:
  static constexpr std::uint32_t kNoRow = 0xffffffff;
  // Those of Precision, and not known.
  static constexpr std::size_t kPaths = static_cast<std::size_t>(Precision::kFp8E5M2) + 2;

  bool is_wanted(std::uint32_t step) const { return step < wanted_.size() && wanted_[step]; }

  std::uint32_t row_of(std::uint32_t index) {
    if (row_of_[index] != kNoRow) return row_of_[index];
    const TracedOp& op = traced_.ops[index];
    const auto [found, fresh] =
        places_.try_emplace(key_of(timeline_, op), static_cast<std::uint32_t>(rows_.size()));
    if (fresh) {
      rows_.push_back({.event = op.event, .module = op.module, .op_class = op.op_class});
      rows_.back().flops = op.flops ? std::optional(Flops{0}) : std::nullopt;
      rows_.back().bytes = op.bytes ? std::optional(Bytes{0}) : std::nullopt;
      paths_.emplace_back();
      longest_.push_back(-1);
    }
    return row_of_[index] = found->second;
  }

  void count(std::uint32_t index) {
    const TracedOp& op = traced_.ops[index];
    const std::uint32_t place = row_of(index);
    OpRow& row = rows_[place];
    ++row.count;
    row.kernels += op.kernels;
    row.copies += op.copies;
    add(row.duration_ns, op.duration_ns);
    add(row.copy_ns, op.copy_ns);
    add(row.launch_wait_ns, op.launch_wait_ns);
    add(row.host_ns, op.host_ns);
    add(row.flops, op.flops);
    add(row.bytes, op.bytes);
    if (op.main_kernel != kNoEvent && timeline_.events[op.main_kernel].duration_ns > longest_[place]) {
      longest_[place] = timeline_.events[op.main_kernel].duration_ns;
      row.main_kernel = op.main_kernel;
    }
    const std::size_t path = op.precision_path ? static_cast<std::size_t>(*op.precision_path) : kPaths - 1;
    add(paths_[place][path], clamp_positive(op.duration_ns));
  }

  // Calls that took no time count too.
  static std::int64_t clamp_positive(std::int64_t ns) { return std::max<std::int64_t>(ns, 1); }

  std::optional<Precision> main_path(std::size_t place) const {
    const std::array<std::int64_t, kPaths>& times = paths_[place];
    const auto most = std::max_element(times.begin(), times.end());
    if (*most == 0 || most == std::prev(times.end())) return std::nullopt;
    return static_cast<Precision>(most - times.begin());
  }

  static void fold(OpRow& rest, const OpRow& row) {
    add(rest.count, row.count);
    add(rest.kernels, row.kernels);
    add(rest.copies, row.copies);
    add(rest.duration_ns, row.duration_ns);
    add(rest.charge_ns, row.charge_ns);
    add(rest.copy_ns, row.copy_ns);
    add(rest.launch_wait_ns, row.launch_wait_ns);
    add(rest.host_ns, row.host_ns);
  }

  const Timeline& timeline_;
  const TracedOps& traced_;
  std::vector<bool> wanted_;
  std::vector<std::uint32_t> row_of_;  // of each op
  std::unordered_map<RowKey, std::uint32_t, RowKeyHash> places_;
  std::vector<OpRow> rows_;
  std::vector<std::array<std::int64_t, kPaths>> paths_;  // of each row: the time by precision path
  std::vector<std::int64_t> longest_;                    // of each row: of its main kernels
};

OpRole role_of(Role role) {
  switch (role) {
    case Role::kKernel:
      return OpRole::kKernel;
    case Role::kCopy:
      return OpRole::kCopy;
    case Role::kMemset:
      return OpRole::kMemset;
    default:
      return OpRole::kOp;
  }
}

class Recorder {
 public:
  Recorder(const Timeline& timeline, const TracedOps& traced, std::int64_t origin_ns)
      : timeline_(timeline), traced_(traced), origin_ns_(origin_ns) {}

  void add(const TracedOp& op) {
    const bool is_op = timeline_.events[op.event].role == Role::kOp;
    std::optional<std::int64_t> parent;
    if (is_op) {
      parent = static_cast<std::int64_t>(records_.size());
      records_.push_back(record_of(op.event));
      OpRecord& record = records_.back();
      TensorInputs inputs = tensor_inputs(timeline_, timeline_.events[op.event]);
      record.shapes = std::move(inputs.shapes);
      record.dtypes = std::move(inputs.dtypes);
      if (op.op_class) record.op_class = ops::name_of(*op.op_class);
      record.module_path = traced_.modules[op.module];
      record.flops = op.flops;
      record.bytes = op.bytes;
      record.precision_path = op.precision_path;
    }
    for (std::uint32_t i = op.work_begin; i < op.work_end; ++i) {
      records_.push_back(record_of(traced_.work[i]));
      records_.back().parent = parent;
      const ops::KernelName* kernel = traced_.kernel_name(timeline_, traced_.work[i]);
      if (kernel != nullptr) records_.back().precision_path = kernel->precision;
    }
  }

  std::vector<OpRecord> take() { return std::move(records_); }

 private:
  OpRecord record_of(std::uint32_t index) const {
    const Event& event = timeline_.events[index];
    const Lane& lane = timeline_.lanes[event.lane];
    OpRecord record;
    record.name = timeline_.texts[event.name];
    record.role = role_of(event.role);
    record.start_at = Nanoseconds(event.start_ns - origin_ns_);
    record.duration = Nanoseconds(event.duration_ns);
    record.lane = lane.process + "/" + lane.thread;
    if (event.role != Role::kOp &&
        event.correlation <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      record.correlation = static_cast<std::int64_t>(event.correlation);
    return record;
  }

  const Timeline& timeline_;
  const TracedOps& traced_;
  std::int64_t origin_ns_;
  std::vector<OpRecord> records_;
};

}  // namespace

std::vector<OpRow> op_rows(const Timeline& timeline, const TracedOps& traced,
                           const std::vector<std::size_t>& steps, std::size_t most) {
  return Table(timeline, traced, steps).rows(most);
}

std::vector<OpRecord> op_records(const Timeline& timeline, const TracedOps& traced, const Steps& steps,
                                 std::optional<std::size_t> step) {
  std::int64_t origin = timeline.events.empty() ? 0 : timeline.events.front().start_ns;
  if (step) origin = steps.steps[*step].start_ns;
  Recorder recorder(timeline, traced, origin);
  for (const TracedOp& op : traced.ops) {
    if (!step || op.step == *step) recorder.add(op);
  }
  return recorder.take();
}

}  // namespace deepgap::trace
