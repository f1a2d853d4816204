#include "trace/traced_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "ops/cost.h"
#include "trace/dispatch_ops.h"
#include "trace/op_signature.h"

namespace deepgap::trace {
namespace {

bool is_work(Role role) {
  return role == Role::kKernel || role == Role::kCopy || role == Role::kMemset;
}

bool multiplies(ops::KernelFamily family) {
  using F = ops::KernelFamily;
  switch (family) {
    case F::kImplicitGemm:
    case F::kWinograd:
    case F::kDirect:
    case F::kDepthwise:
    case F::kGemm:
    case F::kAttention:
      return true;
    default:
      return false;
  }
}

std::optional<Precision> precision_of(ops::DataType type) {
  switch (type) {
    case ops::DataType::kFloat64:
      return Precision::kFp64;
    case ops::DataType::kFloat32:
      return Precision::kFp32;
    case ops::DataType::kFloat16:
      return Precision::kFp16;
    case ops::DataType::kBFloat16:
      return Precision::kBf16;
    case ops::DataType::kFloat8E4M3:
      return Precision::kFp8E4M3;
    case ops::DataType::kFloat8E5M2:
      return Precision::kFp8E5M2;
    case ops::DataType::kInt8:
    case ops::DataType::kUInt8:
      return Precision::kInt8;
    default:
      return std::nullopt;
  }
}

// What all calls with one name and one set of arguments have in common.
struct CallFacts {
  std::optional<ops::OpClass> op_class;
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes;
  std::optional<Precision> precision;
};

constexpr std::int64_t kTooLarge = std::numeric_limits<std::int64_t>::max();

std::int64_t clamped_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kTooLarge : sum;
}

bool is_product(const std::optional<ops::OpClass>& op_class) {
  return op_class && ops::is_contraction(*op_class);
}

class Tracer {
 public:
  Tracer(const Timeline& timeline, const Steps& steps, const Attribution& attribution)
      : timeline_(timeline),
        steps_(steps),
        attribution_(attribution),
        dispatch_(find_dispatch_ops(timeline)) {
    found_.device = attribution.device;
    found_.modules = std::move(dispatch_.modules);
    found_.kernel_name_of.assign(timeline.texts.size(), kNoEvent);
  }

  TracedOps trace() {
    find_owners();
    list_ops();
    list_work();
    time_on_host();
    add_launch_waits();
    for (TracedOp& op : found_.ops) weigh(op);
    add_costs();
    charge();
    return std::move(found_);
  }

 private:
  // Of each piece of work the node that it belongs to, or none.
  void find_owners() {
    const std::vector<Event>& events = timeline_.events;
    works_.assign(dispatch_.nodes.size(), false);
    if (!found_.device) return;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      if (!is_work(event.role) || timeline_.launches[event.detail].device != *found_.device) continue;
      const std::uint32_t node = node_of(i);
      const std::uint32_t owner = node == kNoNode ? kNoNode : dispatch_.nodes[node].owner;
      if (owner != kNoNode) works_[owner] = true;
      work_.push_back({i, owner});
    }
  }

  std::uint32_t node_of(std::uint32_t work) {
    const std::uint32_t call = timeline_.calls[work];
    const Event& event = timeline_.events[work];
    if (call != kNoEvent) {
      if (launches_graph(timeline_.events[call].name)) return kNoNode;
      if (dispatch_.enclosing[call] != kNoNode) return dispatch_.enclosing[call];
    }
    if (event.op == kNoId || timeline_.launches[event.detail].graph != 0) return kNoNode;
    if (!has_ids_) {
      has_ids_ = true;
      for (std::uint32_t i = 0; i < dispatch_.nodes.size(); ++i) {
        const std::uint64_t id = timeline_.events[dispatch_.nodes[i].event].op;
        if (id != kNoId) ids_.try_emplace(id, i);
      }
    }
    const auto found = ids_.find(event.op);
    // An id that counts from 1 in each process may be another's: the op must have begun before its work.
    if (found == ids_.end() ||
        timeline_.events[dispatch_.nodes[found->second].event].start_ns > event.start_ns) {
      return kNoNode;
    }
    return found->second;
  }

  bool launches_graph(std::uint32_t name) const {
    return call_kind(timeline_.texts[name]) == CallKind::kLaunchGraph;
  }

  // Where an op stands in the order: its own start; that of its call for work without an op.
  std::int64_t dispatched_at(std::uint32_t event) const {
    if (timeline_.events[event].role == Role::kOp || timeline_.calls[event] == kNoEvent)
      return timeline_.events[event].start_ns;
    return timeline_.events[timeline_.calls[event]].start_ns;
  }

  void list_ops() {
    for (std::uint32_t i = 0; i < dispatch_.nodes.size(); ++i) {
      const OpNode& node = dispatch_.nodes[i];
      if (node.owner != i || (node.only_if_it_works && !works_[i])) continue;
      found_.ops.push_back({.event = node.event, .module = node.module});
    }
    const auto ops = static_cast<std::ptrdiff_t>(found_.ops.size());
    for (const auto& [event, owner] : work_) {
      if (owner == kNoNode) found_.ops.push_back({.event = event});
    }
    const auto earlier = [this](const TracedOp& a, const TracedOp& b) {
      return std::pair(dispatched_at(a.event), a.event) < std::pair(dispatched_at(b.event), b.event);
    };
    std::sort(found_.ops.begin() + ops, found_.ops.end(), earlier);
    std::inplace_merge(found_.ops.begin(), found_.ops.begin() + ops, found_.ops.end(), earlier);
    op_of_event_.assign(timeline_.events.size(), kNoOp);
    for (std::uint32_t i = 0; i < found_.ops.size(); ++i) {
      TracedOp& op = found_.ops[i];
      op_of_event_[op.event] = i;
      op.step = step_of(op.event);
    }
  }

  // Of work whose call is not known, the step that it runs in.
  std::uint32_t step_of(std::uint32_t event) const {
    const bool called = timeline_.events[event].role == Role::kOp || timeline_.calls[event] != kNoEvent;
    const std::int64_t at = dispatched_at(event);
    const std::optional<std::size_t> step = called ? steps_.of_host(at) : steps_.of_device(at);
    return step ? static_cast<std::uint32_t>(*step) : kNoStep;
  }

  std::uint32_t op_of(std::uint32_t event, std::uint32_t owner) const {
    return op_of_event_[owner == kNoNode ? event : dispatch_.nodes[owner].event];
  }

  void list_work() {
    for (const auto& [event, owner] : work_) ++found_.ops[op_of(event, owner)].work_end;
    std::uint32_t at = 0;
    for (TracedOp& op : found_.ops) {
      op.work_begin = at;
      at += op.work_end;
      op.work_end = op.work_begin;
    }
    found_.work.resize(at);
    for (const auto& [event, owner] : work_) found_.work[found_.ops[op_of(event, owner)].work_end++] = event;
  }

  // An op's time on its thread, less that of ops of their own in it.
  void time_on_host() {
    const std::vector<OpNode>& nodes = dispatch_.nodes;
    std::vector<std::uint32_t> around(nodes.size(), kNoOp);  // the op that a node stands in
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].parent != kNoNode) {
        const std::uint32_t parent = op_of_event_[nodes[nodes[i].parent].event];
        around[i] = parent != kNoOp ? parent : around[nodes[i].parent];
      }
      const std::uint32_t op = op_of_event_[nodes[i].event];
      if (op == kNoOp) continue;
      const std::int64_t length = timeline_.events[nodes[i].event].duration_ns;
      found_.ops[op].host_ns += length;
      if (around[i] == kNoOp) continue;
      std::int64_t& rest = found_.ops[around[i]].host_ns;
      rest = std::max<std::int64_t>(0, rest - length);
    }
  }

  void add_launch_waits() {
    std::vector<std::uint32_t> op_of_work(timeline_.events.size(), kNoOp);
    for (const auto& [event, owner] : work_) op_of_work[event] = op_of(event, owner);
    for (const Segment& segment : attribution_.segments) {
      if (segment.label != Label::kIdleHostLaunch || segment.next == kNoEvent) continue;
      const std::uint32_t op = op_of_work[segment.next];
      if (op != kNoOp) found_.ops[op].launch_wait_ns += segment.end_ns - segment.start_ns;
    }
  }

  const ops::KernelName& name_of_kernel(std::uint32_t name) {
    std::uint32_t& place = found_.kernel_name_of[name];
    if (place == kNoEvent) {
      place = static_cast<std::uint32_t>(found_.kernel_names.size());
      found_.kernel_names.push_back(ops::parse_kernel_name(timeline_.texts[name]));
    }
    return found_.kernel_names[place];
  }

  // What the op's work took, and which kernel is its main one.
  void weigh(TracedOp& op) {
    const std::vector<Event>& events = timeline_.events;
    if (events[op.event].role == Role::kOp) {
      op.op_class = facts_of(op.event).op_class;
    }
    by_name_.resize(timeline_.texts.size());
    std::int64_t until = std::numeric_limits<std::int64_t>::min();
    const bool product = is_product(op.op_class);
    std::pair<bool, std::int64_t> most{false, -1};
    for (std::uint32_t i = op.work_begin; i < op.work_end; ++i) {
      const Event& event = events[found_.work[i]];
      if (event.role != Role::kKernel) {
        ++op.copies;
        op.copy_ns = clamped_sum(op.copy_ns, event.duration_ns);
        continue;
      }
      ++op.kernels;
      op.duration_ns += std::max<std::int64_t>(0, event.end_ns() - std::max(event.start_ns, until));
      until = std::max(until, event.end_ns());
      by_name_[event.name] = clamped_sum(by_name_[event.name], event.duration_ns);
      const ops::KernelFamily family = name_of_kernel(event.name).family;
      const std::pair weight(product && multiplies(family), by_name_[event.name]);
      if (weight <= most) continue;
      most = weight;
      op.main_kernel = found_.work[i];
    }
    for (std::uint32_t i = op.work_begin; i < op.work_end; ++i) by_name_[events[found_.work[i]].name] = 0;
    if (!found_.device) op.duration_ns = op.host_ns;
    if (op.main_kernel != kNoEvent) op.precision_path = name_of_kernel(events[op.main_kernel].name).precision;
    if (op.precision_path || events[op.event].role != Role::kOp) return;
    // A product of FP32 elements on a GPU may have run as TF32.
    op.precision_path = facts_of(op.event).precision;
    if (product && found_.device && op.precision_path == Precision::kFp32) op.precision_path.reset();
  }

  const CallFacts& facts_of(std::uint32_t event) {
    const Event& op = timeline_.events[event];
    const auto [found, fresh] = facts_.try_emplace((std::uint64_t{op.name} << 32) | op.detail, CallFacts{});
    CallFacts& facts = found->second;
    if (!fresh) return facts;
    const ops::OpSignature signature = signature_of(timeline_, op);
    facts.op_class = ops::class_of(signature);
    for (const ops::TensorShape& input : signature.inputs) {
      if (input.present && !facts.precision) facts.precision = precision_of(input.dtype);
    }
    if (op.detail == kNoDetail) return facts;
    const ops::Cost cost = ops::cost_of(signature);
    if (cost.flops) facts.flops = cost.flops->value;
    if (cost.read && cost.written) facts.bytes = clamped_sum(cost.read->value, cost.written->value);
    return facts;
  }

  // An op's own; of a product whose own record does not tell it (einsum), those of the products in it.
  void add_costs() {
    std::vector<bool> known(dispatch_.nodes.size(), false);
    std::vector<bool> own_bytes(found_.ops.size(), false);
    for (std::uint32_t i = 0; i < dispatch_.nodes.size(); ++i) {
      const OpNode& node = dispatch_.nodes[i];
      if (node.owner == kNoNode) continue;
      const std::uint32_t owner = op_of_event_[dispatch_.nodes[node.owner].event];
      if (owner == kNoOp) continue;
      known[i] = node.owner != i && node.parent != kNoNode && known[node.parent];
      if (known[i]) continue;
      TracedOp& op = found_.ops[owner];
      if (node.owner != i && !is_product(op.op_class)) continue;
      const CallFacts& facts = facts_of(node.event);
      if (node.owner != i && !(is_product(facts.op_class) && facts.flops)) continue;
      if (facts.flops) op.flops = Flops{clamped_sum(op.flops.value_or(Flops{0}).value, *facts.flops)};
      if (facts.bytes && !(node.owner != i && own_bytes[owner])) {
        op.bytes = Bytes{clamped_sum(op.bytes.value_or(Bytes{0}).value, *facts.bytes)};
      }
      known[i] = facts.flops.has_value();
      if (node.owner == i) own_bytes[owner] = facts.bytes.has_value();
    }
    for (TracedOp& op : found_.ops) {
      if (op.flops && op.flops->value == kTooLarge) op.flops.reset();
      if (op.bytes && op.bytes->value == kTooLarge) op.bytes.reset();
    }
  }

  void charge() {
    std::vector<OpRun> runs;
    if (found_.device) {
      for (const auto& [event, owner] : work_) {
        const Event& work = timeline_.events[event];
        if (work.role == Role::kKernel) runs.push_back({work.start_ns, work.end_ns(), op_of(event, owner)});
      }
      found_.charges = share_time(runs, steps_);
      return;
    }
    // Without a device the ops are the work, in what counts as computing.
    std::vector<Interval> computing;
    for (const Segment& segment : attribution_.segments) {
      if (segment.label == Label::kKernel) computing.push_back({segment.start_ns, segment.end_ns});
    }
    for (std::uint32_t i = 0; i < found_.ops.size(); ++i) {
      const Event& op = timeline_.events[found_.ops[i].event];
      runs.push_back({op.start_ns, op.end_ns(), i});
    }
    found_.charges = share_time(runs, steps_, computing);
  }

  struct Work {
    std::uint32_t event;
    std::uint32_t owner;  // a node, or none
  };

  const Timeline& timeline_;
  const Steps& steps_;
  const Attribution& attribution_;
  DispatchOps dispatch_;
  std::vector<Work> work_;
  std::vector<bool> works_;  // nodes that own work
  bool has_ids_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;  // nodes by the profiler's ids
  std::vector<std::uint32_t> op_of_event_;
  std::vector<std::int64_t> by_name_;
  std::unordered_map<std::uint64_t, CallFacts> facts_;  // by name and arguments

  TracedOps found_;
};

}  // namespace

const ops::KernelName* TracedOps::kernel_name(const Timeline& timeline, std::uint32_t event) const {
  if (event == kNoEvent || kernel_name_of[timeline.events[event].name] == kNoEvent) return nullptr;
  return &kernel_names[kernel_name_of[timeline.events[event].name]];
}

Result<TracedOps> trace_ops(const Timeline& timeline, const Steps& steps, const Attribution& attribution) {
  TracedOps traced = Tracer(timeline, steps, attribution).trace();
  std::vector<std::int64_t> charged(steps.steps.size(), 0);
  for (const Charge& charge : traced.charges.charges) charged[charge.step] += charge.ns;
  for (std::size_t i = 0; i < charged.size(); ++i) {
    const std::int64_t label = attribution.steps[i].of(Label::kKernel);
    if (charged[i] == label) continue;
    return internal_error(fmt::format(
        "step {}: expected the ops' charges to be the {} ns in which the device computes, found {} ns", i + 1,
        label, charged[i]));
  }
  return traced;
}

}  // namespace deepgap::trace
