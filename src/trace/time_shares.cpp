#include "trace/time_shares.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace deepgap::trace {
namespace {

// Nanoseconds in units of 2^-32. What n ops have each of a time t is floor(t 2^32 / n): all together less
// than n units short of it.
__extension__ using Fine = unsigned __int128;
constexpr int kFineBits = 32;

class Sharing {
 public:
  Sharing(const std::vector<OpRun>& runs, const Steps& steps, const std::vector<Interval>* times)
      : runs_(runs), steps_(steps), times_(times), by_end_(runs.size()) {
    std::uint32_t ops = 0;
    for (const OpRun& run : runs) ops = std::max(ops, run.op + 1);
    ops_.resize(ops);
    std::iota(by_end_.begin(), by_end_.end(), 0U);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return runs[a].end_ns < runs[b].end_ns; };
    if (!std::is_sorted(by_end_.begin(), by_end_.end(), earlier))
      std::stable_sort(by_end_.begin(), by_end_.end(), earlier);
  }

  Charges share() {
    for (std::uint32_t i = 0; i < steps_.steps.size(); ++i) {
      step_ = i;
      const Step& step = steps_.steps[i];
      advance_to(step.start_ns);
      begin();
      advance_to(step.end_ns);
      end();
    }
    return std::move(found_);
  }

 private:
  struct Op {
    std::uint32_t running = 0;  // how many of its runs
    std::uint32_t since = 0;    // the step in which the last of them began
    std::uint32_t place = 0;    // in running_
    bool old = false;           // is one of old_
    Fine entered = 0;           // the step's share when it began
    Fine charged = 0;           // in this step
  };

  // Ends before begins: what touches does not overlap.
  void advance_to(std::int64_t until) {
    for (;;) {
      const bool ends = next_end_ < by_end_.size() && runs_[by_end_[next_end_]].end_ns <= until;
      const bool begins = next_begin_ < runs_.size() && runs_[next_begin_].start_ns < until;
      if (!ends && !begins) break;
      const std::int64_t end = ends ? runs_[by_end_[next_end_]].end_ns : 0;
      // A run of no length begins before it ends.
      if (ends && (!begins || end <= runs_[next_begin_].start_ns) && begun(by_end_[next_end_])) {
        pass(end);
        stop(runs_[by_end_[next_end_++]].op);
      } else {
        pass(runs_[next_begin_].start_ns);
        start(runs_[next_begin_++].op);
      }
    }
    pass(until);
  }

  bool begun(std::uint32_t run) const { return run < next_begin_; }

  void pass(std::int64_t to) {
    if (to <= at_) return;
    const std::uint64_t count = running_.size() + old_;
    const std::int64_t length = in_step_ && (count > 0 || times_ != nullptr) ? counted(at_, to) : 0;
    at_ = to;
    if (length == 0) return;
    computed_ += length;
    const Fine fine = Fine{static_cast<std::uint64_t>(length)} << kFineBits;
    if (count == 0) {
      nameless_ += fine;
      return;
    }
    share_ += fine / count;
    nameless_ += fine / count * old_;
  }

  // How much of a time is one that counts; called with times that follow one another.
  std::int64_t counted(std::int64_t from, std::int64_t to) {
    if (times_ == nullptr) return to - from;
    std::int64_t length = 0;
    for (; next_time_ < times_->size(); ++next_time_) {
      const Interval& each = (*times_)[next_time_];
      length += std::max<std::int64_t>(0, std::min(each.end_ns, to) - std::max(each.start_ns, from));
      if (each.end_ns > to) break;
    }
    return length;
  }

  void start(std::uint32_t id) {
    Op& op = ops_[id];
    op.since = step_;
    if (op.running++ > 0 && !op.old) return;
    if (op.old) --old_;
    op.old = false;
    op.place = static_cast<std::uint32_t>(running_.size());
    op.entered = share_;
    running_.push_back(id);
  }

  void stop(std::uint32_t id) {
    Op& op = ops_[id];
    if (--op.running > 0) return;
    if (op.old) {
      op.old = false;
      --old_;
      return;
    }
    charge(id);
    ops_[running_.back()].place = op.place;
    std::swap(running_[op.place], running_.back());
    running_.pop_back();
  }

  void charge(std::uint32_t id) {
    Op& op = ops_[id];
    const Fine part = share_ - op.entered;
    op.entered = share_;
    if (!in_step_ || part == 0) return;
    if (op.charged == 0) touched_.push_back(id);
    op.charged += part;
  }

  void begin() {
    in_step_ = true;
    share_ = 0;
    nameless_ = 0;
    computed_ = 0;
    for (const std::uint32_t id : running_) ops_[id].entered = 0;
  }

  void end() {
    // Each run is in two steps at most by its op's name: ten thousand that never end, over ten thousand
    // steps, would be a hundred million charges.
    std::size_t kept = 0;
    for (const std::uint32_t id : running_) {
      charge(id);
      Op& op = ops_[id];
      if (op.since < step_) {
        op.old = true;
        ++old_;
      } else {
        op.place = static_cast<std::uint32_t>(kept);
        running_[kept++] = id;
      }
    }
    running_.resize(kept);
    in_step_ = false;
    write();
  }

  void write() {
    std::sort(touched_.begin(), touched_.end());
    if (nameless_ > 0) touched_.push_back(kNoOp);
    const auto charged = [this](std::uint32_t id) { return id == kNoOp ? nameless_ : ops_[id].charged; };
    const std::size_t first = found_.charges.size();
    std::int64_t left = computed_;
    std::vector<std::pair<std::uint32_t, std::size_t>> fractions;
    for (const std::uint32_t id : touched_) {
      const Fine part = charged(id);
      const auto whole = static_cast<std::int64_t>(part >> kFineBits);
      left -= whole;
      fractions.emplace_back(static_cast<std::uint32_t>(part), found_.charges.size());
      found_.charges.push_back({step_, id, whole});
      if (id != kNoOp) ops_[id].charged = 0;
    }
    if (left > 0 && !fractions.empty()) {
      std::stable_sort(fractions.begin(), fractions.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
      // Once round is what fractions add up to; a millionth of that is what rounding them took.
      const auto count = static_cast<std::int64_t>(fractions.size());
      for (std::int64_t i = 0; i < count; ++i) {
        found_.charges[fractions[static_cast<std::size_t>(i)].second].ns +=
            left / count + (i < left % count ? 1 : 0);
      }
    }
    const auto begin = found_.charges.begin() + static_cast<std::ptrdiff_t>(first);
    found_.charges.erase(
        std::remove_if(begin, found_.charges.end(), [](const Charge& each) { return each.ns == 0; }),
        found_.charges.end());
    found_.computed_ns.push_back(computed_);
    touched_.clear();
  }

  const std::vector<OpRun>& runs_;
  const Steps& steps_;
  const std::vector<Interval>* times_;  // those that count; none: all
  std::size_t next_time_ = 0;
  std::vector<std::uint32_t> by_end_;
  std::size_t next_begin_ = 0;
  std::size_t next_end_ = 0;

  std::vector<Op> ops_;
  std::vector<std::uint32_t> running_;  // ops
  std::uint64_t old_ = 0;               // how many that have run since the step before the last one
  std::vector<std::uint32_t> touched_;  // ops that are charged in this step
  std::int64_t at_ = std::numeric_limits<std::int64_t>::min();
  std::uint32_t step_ = 0;
  bool in_step_ = false;
  Fine share_ = 0;     // what an op has that ran all the step
  Fine nameless_ = 0;  // of those of old_, and without any
  std::int64_t computed_ = 0;

  Charges found_;
};

}  // namespace

Charges share_time(const std::vector<OpRun>& runs, const Steps& steps) {
  return Sharing(runs, steps, nullptr).share();
}

Charges share_time(const std::vector<OpRun>& runs, const Steps& steps, const std::vector<Interval>& times) {
  return Sharing(runs, steps, &times).share();
}

}  // namespace deepgap::trace
