#include "graph/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "ops/count.h"

namespace deepgap::graph {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSmallBytes = 4096;

struct Place {
  std::string location;
  std::string path;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

bool leaves_folder(const fs::path& location) {
  if (location.empty() || location.is_absolute()) return true;
  for (const fs::path& part : location) {
    if (part == "..") return true;
  }
  return false;
}

std::optional<std::int64_t> parse_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> expected_bytes(const onnx::TensorProto& tensor) {
  const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const ops::Count elements = ops::product(dims);
  const auto bytes = elements ? ops::bytes_of(data_type_of(tensor.data_type()), *elements) : std::nullopt;
  return bytes ? std::optional(bytes->value) : std::nullopt;
}

Result<Place> find_place(const onnx::TensorProto& tensor, const std::string& folder) {
  const std::string name = printable(tensor.name(), 100);
  Place place;
  place.location = external_entry(tensor, "location");
  const std::string shown = printable(place.location, 200);
  if (place.location.empty()) {
    return bad_input(
        fmt::format("the weights of tensor '{}' were expected in another file, and the model does not say in "
                    "which: export it again",
                    name));
  }
  if (leaves_folder(place.location) || place.location.find('\0') != std::string::npos) {
    return bad_input(
        fmt::format("the weights of tensor '{}' were expected in a file in the model's folder, found the "
                    "path '{}' that leads out of "
                    "it: save the model with its weights beside it",
                    name, shown));
  }
  if (folder.empty()) {
    return bad_input(
        fmt::format("tensor '{}' has its weights in another file, '{}', and the model has no folder to "
                    "find it in: read the model from its file",
                    name, shown));
  }
  place.path = (fs::path(folder) / place.location).string();
  std::error_code error;
  const fs::file_status status = fs::status(place.path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return bad_input(fmt::format(
        "the weights of tensor '{}' were expected in the file '{}', found {}: copy the file there, "
        "beside the model",
        name, printable(place.path, 300), fs::is_directory(status) ? "a folder" : "a device or a pipe"));
  }
  if (!fs::exists(status)) {
    return bad_input(
        fmt::format("the weights of tensor '{}' were expected in '{}', and there is no such file: copy it "
                    "there, beside the model",
                    name, printable(place.path, 300)));
  }
  const std::uintmax_t size = fs::file_size(place.path, error);
  const std::string offset = external_entry(tensor, "offset");
  const std::string length = external_entry(tensor, "length");
  const std::optional<std::int64_t> needed = expected_bytes(tensor);
  const std::optional<std::int64_t> start = offset.empty() ? 0 : parse_number(offset);
  const std::optional<std::int64_t> given = length.empty() ? needed : parse_number(length);
  if (!needed || !start || !given || *given != *needed) {
    return bad_input(
        fmt::format("the entry of tensor '{}' for its weights in '{}' contradicts its shape or is no number "
                    "(offset '{}', length '{}'): export the model again",
                    name, shown, printable(offset, 30), printable(length, 30)));
  }
  place.offset = *start;
  place.length = *needed;
  const ops::Count end = ops::sum({start, needed});
  if (error || !end || static_cast<std::uintmax_t>(*end) > size) {
    return bad_input(
        fmt::format("the weights of tensor '{}' were expected in '{}' at bytes {} to {}, and the file has "
                    "{}: it is truncated or belongs to another model, copy it again",
                    name, printable(place.path, 300), *start, end.value_or(0), size));
  }
  return place;
}

Result<void> load(onnx::TensorProto& tensor, const Place& place) {
  std::string bytes;
  bytes.resize(static_cast<std::size_t>(place.length));
  const int file = ::open(place.path.c_str(), O_RDONLY | O_CLOEXEC);
  std::size_t done = 0;
  while (file >= 0 && done < bytes.size()) {
    const ssize_t count = ::pread(file, bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(place.offset) + static_cast<off_t>(done));
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (file >= 0) ::close(file);
  if (file < 0 || done < bytes.size()) {
    return bad_input(
        fmt::format("cannot read the weights of tensor '{}' from '{}': check the file and its permissions",
                    printable(tensor.name(), 100), printable(place.path, 300)));
  }
  tensor.set_raw_data(std::move(bytes));
  tensor.clear_external_data();
  tensor.clear_data_location();
  return {};
}

bool is_external(const onnx::TensorProto& tensor) {
  return tensor.has_data_location() && tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

// Tensors of at most `most` bytes are loaded.
Result<std::set<std::string>> check_and_load(onnx::ModelProto& proto, const std::string& folder,
                                             std::int64_t most) {
  std::set<std::string> files;
  std::optional<Error> failed;
  for_each_tensor(proto, [&](onnx::TensorProto& tensor) {
    if (failed || !is_external(tensor)) return;
    Result<Place> place = find_place(tensor, folder);
    if (!place) {
      failed = std::move(place).error();
      return;
    }
    files.insert(place->location);
    if (place->length > most) return;
    if (Result<void> loaded = load(tensor, *place); !loaded) failed = std::move(loaded).error();
  });
  if (failed) return *std::move(failed);
  return files;
}

}  // namespace

Result<std::set<std::string>> check_external_data(onnx::ModelProto& proto, const std::string& folder) {
  return check_and_load(proto, folder, kSmallBytes);
}

Result<void> load_external_data(onnx::ModelProto& proto, const std::string& folder) {
  DEEPGAP_ASSIGN(const std::set<std::string> files,
                 check_and_load(proto, folder, std::numeric_limits<std::int64_t>::max()));
  (void)files;
  return {};
}

}  // namespace deepgap::graph
