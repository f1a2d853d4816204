#include "trace/json_damage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deepgap::trace {

void count_damage(Timeline& timeline, const JsonEvents& events) {
  const JsonDamage& damage = events.damage();
  timeline.counts.read += damage.lost + damage.no_events;
  timeline.counts.lost += damage.lost;
  timeline.counts.ignored += damage.no_events;
}

void say_damage(Timeline& timeline, const JsonEvents& events, const ByteSource& source,
                const MendedEvents& mended) {
  const JsonDamage& damage = events.damage();
  const auto say = [&timeline](const DiagnosticKind& kind, std::string text, std::int64_t count) {
    timeline.diagnostics.push_back(diagnose(kind, {}, std::move(text), count));
  };
  if (const auto fault = source.fault()) {
    say(diagnostics::kFileCutOff, fmt::format("{} after {} events", *fault, timeline.counts.read), 1);
  } else if (damage.ended_early) {
    say(diagnostics::kFileCutOff,
        fmt::format("the file ends within the JSON, after {} events", timeline.counts.read), 1);
  }
  std::vector<std::string> repairs;
  if (mended.mended > 0) repairs.push_back(fmt::format("{} events were put right", mended.mended));
  if (damage.members_suspect > 0) {
    repairs.push_back(fmt::format("{} members beside the events were put right", damage.members_suspect));
  }
  if (damage.byte_order_mark) repairs.emplace_back("a byte order mark was passed over");
  if (damage.trailing_commas > 0) repairs.emplace_back("a comma before the closing bracket was passed over");
  if (damage.stray_bytes > 0)
    repairs.push_back(fmt::format("{} stray bytes were passed over", damage.stray_bytes));
  if (damage.trailing_bytes > 0) {
    repairs.push_back(fmt::format("{} bytes behind the end were passed over", damage.trailing_bytes));
  }
  if (!repairs.empty()) {
    say(diagnostics::kTextRepaired, join(repairs, "; "),
        std::max<std::int64_t>(mended.mended, static_cast<std::int64_t>(repairs.size())));
  }
  if (mended.negative > 0)
    say(diagnostics::kNegativeDurations, fmt::format("{} events end before they begin", mended.negative),
        mended.negative);
  const std::int64_t others = timeline.counts.lost - mended.negative;
  if (others > 0)
    say(diagnostics::kEventsLost, fmt::format("{} of {} events were lost", others, timeline.counts.read),
        others);
}

}  // namespace deepgap::trace
