// A store with a bit of everything, to be mangled; and all that the program does with a store that it is
// given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/document.h"

namespace deepgap::fuzz {

// A file in a folder of this process's own, on a file system in memory where there is one.
std::string scratch_file(const std::string& name);
void write_scratch(const std::string& path, std::string_view bytes);
// The bytes of a good store.
const std::string& example_store();
// Writes the bytes as scratch_file("fuzzed.db"), without what an earlier one left beside it; its path.
std::string write_store(std::string_view bytes);
// Reads, lists, shows, exports, merges or writes to it, as `use` says; 0 is all of that, one after the other.
void use_store(const std::string& path, std::size_t use);

// Nothing of it can steer a terminal.
void require_document(const report::Document& document);

}  // namespace deepgap::fuzz
