// The store that a verb is about: --db, else $DEEPGAP_DB, else deepgap.db in the working folder.
#pragma once

#include <cstdlib>
#include <string>

#include "arguments.h"

namespace deepgap::app {

inline std::string database_path(const Arguments& arguments) {
  if (auto path = arguments.text("--db")) return *path;
  const char* const set = std::getenv("DEEPGAP_DB");
  return set != nullptr && *set != '\0' ? set : "deepgap.db";
}

}  // namespace deepgap::app
