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
  if (mended.mended > 0) repairs.push_back(counted(mended.mended, "event") + " put right");
  if (damage.members_suspect > 0) {
    repairs.push_back(counted(damage.members_suspect, "member") + " beside the events put right");
  }
  if (damage.byte_order_mark) repairs.emplace_back("a byte order mark was passed over");
  if (damage.trailing_commas > 0) repairs.emplace_back("a comma before the closing bracket was passed over");
  if (damage.stray_bytes > 0) repairs.push_back(counted(damage.stray_bytes, "stray byte") + " passed over");
  if (damage.trailing_bytes > 0) {
    repairs.push_back(counted(damage.trailing_bytes, "byte") + " behind the end passed over");
  }
  if (!repairs.empty()) {
    say(diagnostics::kTextRepaired, join(repairs, "; "),
        std::max<std::int64_t>(mended.mended, static_cast<std::int64_t>(repairs.size())));
  }
  if (mended.negative > 0)
    say(diagnostics::kNegativeDurations,
        counted(mended.negative, "event") + " with an end before the beginning", mended.negative);
  const std::int64_t others = timeline.counts.lost - mended.negative;
  if (others > 0)
    say(diagnostics::kEventsLost,
        fmt::format("{} of {} lost", others, counted(timeline.counts.read, "event")), others);
}

}  // namespace deepgap::trace
