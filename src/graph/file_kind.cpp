#include "graph/file_kind.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>

#include "base/file_system.h"
#include "base/text.h"

namespace deepgap::graph {
namespace {

struct Magic {
  std::string_view bytes;
  std::string_view kind;  // and what to do
};

using namespace std::string_view_literals;

constexpr Magic kMagics[] = {
    {"PK\x03\x04"sv,
     "a zip archive, as PyTorch (.pt, .pth) and Keras write: unpack it where a model is in it, or export the "
     "model to ONNX"},
    {"\x1f\x8b"sv, "a gzip archive: unpack it"},
    {"\x28\xb5\x2f\xfd"sv, "a zstd archive: unpack it"},
    {"version https://git-lfs"sv, "a Git LFS pointer instead of the file it stands for: run 'git lfs pull'"},
    {"\x89HDF"sv, "an HDF5 file, as Keras writes (.h5): export the model to ONNX"},
    {"\x89PNG"sv, "a PNG picture: name the model's file"},
    {"\xff\xd8\xff"sv, "a JPEG picture: name the model's file"},
    {"\x7f"
     "ELF"sv,
     "a program or library (ELF): name the model's file"},
    {"GGUF"sv, "a GGUF model: export it to ONNX from where it came"},
    {"SQLite format 3"sv, "an SQLite database: name the model's file"},
    {"\x80\x02"sv, "a Python pickle, as old PyTorch writes: export the model to ONNX"},
    {"\x80\x04"sv, "a Python pickle: export the model to ONNX"},
    {"ftrt"sv, "a TensorRT engine: name the ONNX model that it was built from"},
    {"%PDF"sv, "a PDF document: name the model's file"},
};

std::optional<std::uint64_t> read_varint(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::string truncated(std::uint64_t least, std::size_t found) {
  return fmt::format("expected an ONNX model of at least {} bytes, found {}: it is truncated", least, found);
}

// A number that does not end before the bytes do, or at all.
std::string broken_number(std::string_view bytes, std::size_t start, std::size_t at) {
  if (at == bytes.size()) return truncated(bytes.size() + 1, bytes.size());
  return fmt::format(
      "expected an ONNX model, found {} bytes of which byte {} begins a number without an end: it is damaged",
      bytes.size(), start);
}

std::string foreign_field(std::string_view bytes, std::size_t start) {
  return fmt::format(
      "expected an ONNX model, found {} bytes of which byte {} begins none of its fields: it is damaged",
      bytes.size(), start);
}

}  // namespace

std::optional<std::string> foreign_kind(std::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.starts_with(magic.bytes)) return std::string(magic.kind);
  }
  if (bytes.size() > 4 && bytes.substr(4).starts_with("TFL3"))
    return "a TensorFlow Lite model: export it to ONNX from where it came";
  // No ONNX model starts with these: as a protobuf tag "<" and "{" are groups, which it has not.
  std::string_view text = bytes.substr(0, 1000);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text = trim(text);
  const std::string head = lower(text.substr(0, 200));
  if (head.starts_with("<!doctype html") || head.starts_with("<html") ||
      head.find("<html") != std::string::npos) {
    return "an HTML page: download the file itself again (the raw file, not the page that shows it)";
  }
  if (head.starts_with("<?xml") || head.starts_with("<net"))
    return "an XML file, as OpenVINO writes (.xml): name the ONNX model that it was made from";
  if (head.starts_with("{") || head.starts_with("["))
    return "a JSON file: name the model's file, or download it again if this was the answer of a server";
  return std::nullopt;
}

std::optional<std::string> outer_damage(std::string_view bytes) {
  constexpr std::uint64_t kMostFields = 30;  // ModelProto's fields are below this
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t start = at;
    const std::optional<std::uint64_t> tag = read_varint(bytes, at);
    if (!tag) return broken_number(bytes, start, at);
    const std::uint64_t field = *tag >> 3;
    if (field == 0 || field > kMostFields) return foreign_field(bytes, start);
    std::uint64_t length = 0;
    switch (*tag & 7) {
      case 0:
        if (!read_varint(bytes, at)) return broken_number(bytes, start, at);
        break;
      case 1:
        length = 8;
        break;
      case 2: {
        const std::optional<std::uint64_t> given = read_varint(bytes, at);
        if (!given) return broken_number(bytes, start, at);
        length = *given;
        break;
      }
      case 5:
        length = 4;
        break;
      default:
        return foreign_field(bytes, start);
    }
    if (length > bytes.size() - at) {
      // Lengths beyond what ONNX allows are damage rather than a missing end.
      if (length > (std::uint64_t{1} << 31))
        return fmt::format(
            "expected an ONNX model, found {} bytes of which byte {} begins a field of {} bytes: it is "
            "damaged",
            bytes.size(), start, length);
      return truncated(at + length, bytes.size());
    }
    at += static_cast<std::size_t>(length);
  }
  return std::nullopt;
}

Error too_large(std::uintmax_t size) {
  return bad_input(fmt::format(
      "expected an ONNX model of at most {} bytes (below 2 GiB), found {}: save its weights as external data "
      "(onnx.save_model with save_as_external_data=True)",
      kMostModelBytes, size));
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<std::string> read_model_bytes(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string context = "'" + printable(path) + "'";
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) {
    return bad_input(
               fmt::format("expected an ONNX model, found a path that cannot be followed ({}): check it",
                           error.message()))
        .in(context);
  }
  if (!fs::exists(status)) {
    return bad_input("expected an ONNX model, found no such file: check the path, or name a built-in model")
        .in(context);
  }
  if (fs::is_directory(status))
    return bad_input("expected an ONNX model, found a folder: name the file in it").in(context);
  if (!fs::is_regular_file(status))
    return bad_input("expected an ONNX model, found a device or a pipe: name a regular file").in(context);
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMostModelBytes) return too_large(size).in(context);
  return RootedFileSystem().read(path);
}

}  // namespace deepgap::graph
