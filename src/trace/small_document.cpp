#include "trace/small_document.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"

namespace deepgap::trace {

Result<nlohmann::json> read_small_document(ByteSource& source, std::size_t most) {
  std::string text;
  std::string piece(std::size_t{64} << 10, '\0');
  for (;;) {
    DEEPGAP_ASSIGN(const std::size_t count, source.read(piece));
    if (count == 0) break;
    text.append(piece, 0, count);
    if (text.size() > most) {
      return bad_input(fmt::format("{}: expected at most {} bytes of a file of this format, found more",
                                   printable(source.path()), most));
    }
  }
  if (const auto fault = source.fault()) {
    return bad_input(
        fmt::format("{}: {}: copy or compress the file again", printable(source.path()), *fault));
  }
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return bad_input(
        fmt::format("{}, byte {}: expected JSON to its end, found '{}': the file is cut off or damaged",
                    printable(source.path()), error.byte,
                    printable(text.substr(std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1), 20))));
  } catch (const nlohmann::json::out_of_range&) {
    return bad_input(
        fmt::format("{}: expected numbers of at most 1.8e308, found one beyond: the file is damaged",
                    printable(source.path())));
  }
}

}  // namespace deepgap::trace
