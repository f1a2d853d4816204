#include "trace/file_looks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"

namespace deepgap::trace {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t at;
  std::string_view bytes;
  std::string_view what;
};

// From the file(1) database and the formats' own descriptions.
constexpr Magic kMagics[] = {
    {257, "ustar"sv, "a tar archive: unpack it first, and name the file in it"},
    {0, "\x1f\x8b"sv, "a gzip file inside a compressed one: unpack it once"},
    {0, "PK\x03\x04"sv,
     "a ZIP archive: unpack an archive first; a PyTorch model is no result (export it to ONNX for `deepgap "
     "run`)"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack it first"},
    {0, "BZh"sv, "a bzip2 file: unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "an xz file: unpack it first"},
    {0, "\x89PNG"sv, "a picture (PNG): export the trace or the table behind it"},
    {0, "\xff\xd8\xff"sv, "a picture (JPEG): export the trace or the table behind it"},
    {0, "GIF8"sv, "a picture (GIF): export the trace or the table behind it"},
    {0, "%PDF"sv, "a PDF document: export the trace or the table behind it"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program (ELF)"},
    {0, "NVR\0"sv, "a report of Nsight Compute: export it with `ncu --import FILE --csv --page raw`"},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "\x89HDF"sv, "an HDF5 file"},
    {0, "PAR1"sv, "a Parquet file: export it as CSV or SQLite"},
};

bool starts_with_any_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + 32) : b);
         });
}

// The members of a document's outermost object, as far as its first bytes go.
class OuterMembers final : public nlohmann::json_sax<nlohmann::json> {
 public:
  static constexpr std::size_t kMost = 8;

  const std::vector<std::string>& names() const { return names_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_ > 0; }
  bool start_array(std::size_t) override {
    ++depth_;
    return true;
  }
  bool end_array() override { return --depth_ > 0; }
  bool key(string_t& name) override {
    if (depth_ == 1) names_.push_back(printable(name, 40));
    return names_.size() < kMost;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::size_t depth_ = 0;
  std::vector<std::string> names_;
};

// Protocol buffers have no magic: their first field and what it holds must do.
std::string_view protobuf_looks(std::string_view head) {
  if (head.size() < 4) return {};
  const auto byte = [head](std::size_t at) { return static_cast<unsigned char>(head[at]); };
  // ModelProto: ir_version, then a producer, a version, a graph.
  if (byte(0) == 0x08 && byte(1) >= 3 && byte(1) < 32 &&
      (byte(2) == 0x12 || byte(2) == 0x3a || byte(2) == 0x42)) {
    return "what seems to be an ONNX model: `deepgap run FILE` measures it";
  }
  // Trace: a packet, which begins with a field of its own.
  if (byte(0) == 0x0a && byte(1) > 1 && (byte(2) & 7U) != 7 && head.find('\0') != std::string_view::npos) {
    return "what may be a Perfetto trace in protocol buffers: convert it with Perfetto's `traceconv json`";
  }
  return {};
}

}  // namespace

std::string looks_of(std::string_view head, std::int64_t size) {
  constexpr std::size_t kShown = 60;
  if (head.empty()) return "an empty file";
  for (const Magic& magic : kMagics) {
    if (head.size() > magic.at && head.substr(magic.at).starts_with(magic.bytes))
      return std::string(magic.what);
  }
  if (head.starts_with("SQLite format 3"sv)) {
    // At 68 the application's own id stands.
    const bool ours = head.size() >= 72 && head.substr(68, 4) == "DGap";
    return ours ? "a store of deepgap's own: `deepgap list --db FILE` shows what is in it"
                : "an SQLite database";
  }
  const std::string_view text = trim(head);
  if (starts_with_any_case(text, "<!doctype html") || starts_with_any_case(text, "<html")) {
    return fmt::format("a web page that begins with '{}': the download failed, or asked to sign in",
                       printable(text.substr(0, std::min(text.find_first_of("\r\n"), kShown))));
  }
  if (const std::string_view looks = protobuf_looks(head); !looks.empty()) return std::string(looks);
  if (head.find('\0') != std::string_view::npos)
    return fmt::format(
        "a binary file of {} bytes: a report of Nsight Systems is read as `nsys export --type sqlite` writes "
        "it",
        size);
  if (text.starts_with('{')) {
    OuterMembers members;
    nlohmann::json::sax_parse(text.begin(), text.end(), &members);
    if (!members.names().empty()) return "JSON with the members " + join(members.names(), ", ");
  }
  const std::string_view line = head.substr(0, std::min(head.find_first_of("\r\n"), kShown));
  return fmt::format("text that begins with '{}'", printable(line));
}

}  // namespace deepgap::trace
