// The input: a byte that says what is done with the store; then edits of a good one, each a place (3 bytes),
// a length and the bytes to write there; one of length 0 cuts the file off there. What begins as SQLite's
// files do is the file itself.
#include "example_store.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

void survive(std::string_view input) {
  Reader edits(input);
  const std::size_t use = edits.number(1);
  if (input.substr(std::min<std::size_t>(1, input.size())).starts_with("SQLite"))
    return use_store(write_store(edits.rest()), use);
  std::string bytes = example_store();
  while (!edits.empty()) {
    const std::size_t place = edits.number(3) % (bytes.size() + 1);
    const std::size_t length = edits.number(1);
    const std::string_view text = edits.text(length);
    if (length == 0) {
      bytes.resize(place);
    } else {
      bytes.replace(place, std::min(text.size(), bytes.size() - place), text);
    }
  }
  use_store(write_store(bytes), use);
}

std::vector<Seed> seeds() {
  const std::string all(1, '\0');
  const auto edit = [](std::size_t place, const std::string& text) {
    return bytes_of(place, 3) + bytes_of(text.size(), 1) + text;
  };
  return {{"whole", all},
          {"cut", all + edit(9000, "")},
          {"header", all + edit(18, "\x01\x01")},
          {"pages", all + edit(28, std::string(4, '\x7F'))},
          {"page_size", all + edit(16, std::string("\x02\x00", 2))},
          {"user_version", all + edit(60, std::string("\0\0\0\x09", 4))},
          {"root_page", all + edit(8192, "\x0D") + edit(8195, std::string(2, '\xFF'))},
          {"text", all + "SQLite is not what it is"}};
}

}  // namespace

const Target kStoreBytes{"store_bytes", "a damaged store", survive, seeds};

}  // namespace deepgap::fuzz
