#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/file_system.h"
#include "base/text.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

constexpr std::array<const Target*, 12> kTargets{
    &kCpuLists,   &kEinsum,      &kForeignFiles,  &kKernelNames,   &kMachineTrees, &kModels,
    &kStoreBytes, &kStoreValues, &kStoredColumns, &kSweepRequests, &kTexts,        &kWorkerMessages};

std::vector<const Target*> with_importers() {
  std::vector<const Target*> targets(kTargets.begin(), kTargets.end());
  for (const Target& target : import_targets()) targets.push_back(&target);
  return targets;
}

}  // namespace

std::span<const Target* const> all_targets() {
  static const std::vector<const Target*> targets = with_importers();
  return targets;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(all_targets(), name, &Target::name);
  return found == all_targets().end() ? nullptr : *found;
}

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: it must hold, and does not: %.*s\n", static_cast<int>(what.size()),
               what.data());
  std::abort();
}

void require_sentence(const Error& error) {
  const std::string& text = error.message();
  require(!text.empty(), "an error says something");
  require(printable(text, text.size()) == text, "an error can be printed: " + printable(text));
}

std::size_t Reader::number(std::size_t size) {
  const std::string_view bytes = text(size);
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::string_view Reader::text(std::size_t size) {
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(taken.size());
  return taken;
}

std::string bytes_of(std::size_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string source_file(const std::string& path) {
  Result<std::string> text = RootedFileSystem().read(std::string(DEEPGAP_SOURCE_FOLDER) + "/" + path);
  require(text.ok(), "the repository has " + path);
  return std::move(text).value();
}

}  // namespace deepgap::fuzz
