#include <cstdio>

#include "example_store.h"
#include "session/foreign_file.h"
#include "target.h"
#include "trace/csv.h"

namespace deepgap::fuzz {
namespace {

void read_as_csv(const std::string& path) {
  auto source = trace::ByteSource::open(path);
  if (!checked(source)) return;
  trace::CsvReader reader(*source);
  std::vector<std::string> fields;
  for (;;) {
    const auto more = reader.next(fields);
    if (!checked(more) || !*more) return;
    require(!fields.empty(), "a record has a field");
  }
}

void survive(std::string_view input) {
  const std::string path = scratch_file("foreign");
  write_scratch(path, input);
  read_as_csv(path);
  if (const auto shown = session::show_file(path); checked(shown)) require_document(shown->document);
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds{{"html", "<!DOCTYPE html>"}};
  for (const Target& target : import_targets()) {
    for (Seed& seed : target.seeds())
      seeds.push_back({std::string(target.name) + "_" + seed.name, seed.bytes});
  }
  return seeds;
}

}  // namespace

const Target kForeignFiles{"foreign_files", "files whose format is still to be told", survive, seeds};

}  // namespace deepgap::fuzz
