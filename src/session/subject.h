// What a verb is about: a file, a stored measurement by id or unique prefix, or a selector of cells.
//
//   resnet50.trace.json.gz               a file in a format of `deepgap formats`
//   3f2a90c1                             the measurement whose id begins so
//   resnet50/openvino/cpu/int8/b8        the newest cell that matches; any part may be *
//   *                                    every cell
//
// An existing file wins over an id, an id over a selector.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/workload.h"
#include "store/store.h"

namespace deepgap::session {

struct FileSubject {
  std::string path;
};
using Subject = std::variant<FileSubject, MeasurementId, Selector>;

// An existing file: verbs that read files by `trace/importer.h` need no store for it.
bool is_file_subject(const std::string& text);
// Which of the three a text is. Errors (usage) say what a subject looks like.
// A prefix is resolved against the store; `store` may be absent for verbs that take files only.
Result<Subject> resolve_subject(const std::string& text, store::Store* store);

// The one measurement of a subject, for verbs that take the newest match.
Result<MeasurementId> resolve_one(const std::string& text, store::Store& store);

}  // namespace deepgap::session
