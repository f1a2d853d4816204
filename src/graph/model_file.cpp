#include "graph/model_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/file_system.h"
#include "base/hash.h"
#include "base/signals.h"
#include "base/text.h"
#include "graph/builtin.h"
#include "graph/dims_plan.h"
#include "graph/file_kind.h"

namespace deepgap::graph {
namespace {

namespace fs = std::filesystem;

// "103 1f0a...": size and hash, beside the model.
std::string seal_of(std::string_view bytes) {
  return fmt::format("{} {}\n", bytes.size(), content_hash(bytes));
}

std::string file_name(const BuiltinModel& model, const Dims& dims, std::uint64_t seed) {
  std::string name = fmt::format("{}-{}-{}", model.name, model.generator_version, seed);
  for (const BuiltinParameter& parameter : model.parameters) {
    if (parameter.structural)
      name += fmt::format("-{}{}", parameter.name, dims.at(std::string(parameter.name)));
  }
  return name + ".onnx";
}

// The cached bytes, where they are what was written.
std::optional<std::string> read_sealed(const std::string& path) {
  const RootedFileSystem files;
  const Result<std::string> seal = files.read(path + ".seal");
  if (!seal) return std::nullopt;
  Result<std::string> bytes = files.read(path);
  if (!bytes || seal_of(*bytes) != *seal) return std::nullopt;
  return std::move(*bytes);
}

Result<void> write_sealed(const std::string& path, std::string_view bytes) {
  DEEPGAP_RETURN_IF_ERROR(make_folders(fs::path(path).parent_path().string()));
  const auto needed = static_cast<std::int64_t>(bytes.size());
  if (const Result<Bytes> free = free_space(path); free && free->value < needed) {
    return bad_input(fmt::format(
        "the model takes {} bytes and '{}' has {} free: free some space, or set DEEPGAP_CACHE to another "
        "folder",
        needed, printable(path), free->value));
  }
  DEEPGAP_RETURN_IF_ERROR(write_file_atomically(path, bytes));
  return write_file_atomically(path + ".seal", seal_of(bytes));
}

Result<ModelFile> materialise_builtin(const BuiltinModel& builtin, const Dims& dims, std::uint64_t seed,
                                      const std::string& cache_folder) {
  DEEPGAP_ASSIGN(Dims complete, complete_dims(builtin, dims));
  const std::string path = (fs::path(cache_folder) / "models" / file_name(builtin, complete, seed)).string();
  std::optional<std::string> bytes = read_sealed(path);
  if (!bytes) {
    DEEPGAP_ASSIGN(std::string generated, uninterruptible([&] { return builtin.generate(complete, seed); }));
    DEEPGAP_RETURN_IF_ERROR(
        write_sealed(path, generated).in(fmt::format("keeping the model '{}'", builtin.name)));
    bytes = std::move(generated);
  }
  DEEPGAP_ASSIGN(Model model, uninterruptible([&] {
                   return parse_model(*bytes, path, {fs::path(path).parent_path().string()});
                 }));
  // Structural parameters are no open dimensions of the file.
  Dims open;
  for (const BuiltinParameter& parameter : builtin.parameters) {
    if (!parameter.structural) open[std::string(parameter.name)] = complete.at(std::string(parameter.name));
  }
  return ModelFile{
      path, std::string(builtin.name), content_hash(*bytes), Bytes{static_cast<std::int64_t>(bytes->size())},
      true, std::move(complete),       std::move(open),      std::move(model)};
}

struct Content {
  std::string hash;
  Bytes size;
};

// Weights may be larger than the memory: in pieces.
bool add_file(Hasher& hasher, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hasher.add(std::string_view(piece).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  return file.eof();
}

// Of the model alone its hash; with external weights, of the model, then each file's name, size and bytes.
Result<Content> hash_with_externals(const std::string& path, std::string_view bytes,
                                    const std::vector<std::string>& files) {
  Content content{content_hash(bytes), Bytes{static_cast<std::int64_t>(bytes.size())}};
  if (files.empty()) return content;
  Hasher hasher;
  hasher.add(bytes);
  for (const std::string& file : files) {
    const std::string place = (fs::path(folder_of(path)) / file).string();
    std::error_code error;
    const std::uintmax_t size = fs::file_size(place, error);
    hasher.add(fmt::format("\n{} {} {}\n", file.size(), file, size));
    if (error || !add_file(hasher, place)) {
      return bad_input(fmt::format("cannot read the weights in '{}': check the file and its permissions",
                                   printable(place)));
    }
    content.size += Bytes{static_cast<std::int64_t>(size)};
  }
  content.hash = hasher.digest();
  return content;
}

Result<ModelFile> use_file(const std::string& path, const Dims& dims) {
  const UninterruptibleStage stage;
  DEEPGAP_ASSIGN(const std::string bytes, read_model_bytes(path));
  DEEPGAP_ASSIGN(Model model, parse_model(bytes, path, {folder_of(path)}));
  const std::string context = "'" + printable(path) + "'";
  DEEPGAP_RETURN_IF_ERROR(check_dims(model, dims).in(context));
  DEEPGAP_ASSIGN(Content content, hash_with_externals(path, bytes, model.info().external_files).in(context));
  return ModelFile{path,
                   fs::path(path).stem().string(),
                   std::move(content.hash),
                   content.size,
                   false,
                   dims,
                   dims,
                   std::move(model)};
}

bool looks_like_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.find('.') != std::string::npos;
}

}  // namespace

Result<ModelFile> materialise(const std::string& name_or_path, const Dims& dims, std::uint64_t seed,
                              const std::string& cache_folder) {
  if (const BuiltinModel* builtin = find_builtin(name_or_path)) {
    return materialise_builtin(*builtin, dims, seed, cache_folder);
  }
  std::error_code error;
  if (!looks_like_path(name_or_path) && !fs::exists(name_or_path, error)) {
    std::vector<std::string> names;
    for (const BuiltinModel* model : builtin_models()) names.emplace_back(model->name);
    return usage_error(unknown_name("model", name_or_path, names) + ", or the path of an ONNX file");
  }
  return use_file(name_or_path, dims);
}

}  // namespace deepgap::graph
