#include "core/catalogue_docs.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "core/diagnostic.h"
#include "core/metric.h"
#include "core/setting.h"

namespace deepgap {
namespace {

// A bar would end the cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char character : text) {
    if (character == '|') escaped += '\\';
    escaped += character;
  }
  return escaped;
}

std::string how_set(const SettingKind& kind) {
  if (!kind.option.empty()) return fmt::format("`{}`", kind.option);
  return kind.user_may_set ? "yes" : "no";
}

}  // namespace

std::string catalogues_as_markdown() {
  std::string page;
  const auto out = std::back_inserter(page);
  page +=
      "# Metrics, diagnostics and settings\n\n"
      "This page is generated from the catalogues in `src/core`; a test holds it equal to them. To change "
      "it, change the\n"
      "catalogue and run `DEEPGAP_APPROVE=1 deepgap_core_test`.\n\n"
      "## Metrics\n\n"
      "What the numbers are called in JSON and CSV. Each is an estimate: a point with its interval, "
      "confidence, sample size,\n"
      "unit and method. Lengths of time are nanoseconds in documents and are shown in the unit that fits.\n\n"
      "| metric | unit | better | what it is |\n|---|---|---|---|\n";
  for (const Metric* metric : all_metrics()) {
    fmt::format_to(out, "| `{}` | {} | {} | {} |\n", metric->id, name_of(metric->unit),
                   metric->lower_is_better ? "lower" : "higher", cell(metric->meaning));
  }
  page +=
      "\n### In the columns of the reference studies\n\n"
      "`export --columns gdev-ai` and `deep-gap` write one row a process of a cell, in the studies' own "
      "definitions: plain\n"
      "statistics of that process's samples, without intervals. `throughput_ips` is batch divided by "
      "`median_ms`, as in the\n"
      "studies, and not the measured `throughput` above. Cells measured with calls in flight are left out, "
      "and said to be.\n"
      "`sweep_id` numbers the sweeps of the store, the oldest first; one that followed the published "
      "protocol "
      "takes a number\n"
      "for every three repeats. There is no column for engine, precision or dimensions; `device` is the "
      "device's address.\n";
  page +=
      "\n## Diagnostics\n\n"
      "What casts doubt on a number is kept with it. A `note` is worth knowing, a `warning` may change the "
      "conclusion, an\n"
      "`error` means that the cell has no result or only part of one.\n\n"
      "| diagnostic | severity | what it means | what to do |\n|---|---|---|---|\n";
  for (const DiagnosticKind* kind : all_diagnostics()) {
    fmt::format_to(out, "| `{}` | {} | {} | {} |\n", kind->id, name_of(kind->severity), cell(kind->meaning),
                   cell(kind->remedy));
  }
  page +=
      "\n## Settings\n\n"
      "What a run was asked for and what was in force. Measurements that differ in a setting that *decides* "
      "are not compared\n"
      "as if they were alike; one that *tells* is kept to say where and when. Settings marked *yes* can be "
      "set with\n"
      "`run --set NAME=VALUE`, those with an option by that option of `run`. An engine may add settings of "
      "its own: they are kept too, and decide.\n\n"
      "| setting | decides or tells | can be set | what it is |\n|---|---|---|---|\n";
  for (const SettingKind& kind : all_settings()) {
    fmt::format_to(out, "| `{}` | {} | {} | {} |\n", kind.name,
                   kind.influence == Influence::kDecides ? "decides" : "tells", how_set(kind),
                   cell(kind.meaning));
  }
  return page;
}

}  // namespace deepgap
