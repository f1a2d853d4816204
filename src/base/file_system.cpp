#include "base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>

#include "base/hash.h"
#include "base/text.h"

namespace deepgap {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

Error cannot(std::string_view what, const std::string& path, std::string_view why) {
  return bad_input(fmt::format("cannot {} '{}': {}", what, printable(path), why));
}

Error cannot_write(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return cannot("write", path, reason(error) + (full ? "; free some space or write elsewhere" : ""));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return value_; }
  // False with errno set where the last writes did not reach the file.
  bool close() {
    if (value_ < 0) return true;
    const int value = value_;
    value_ = -1;
    return ::close(value) == 0 || errno == EINTR;
  }

 private:
  int value_;
};

// Where `path` is below `root`, with links followed and ".." kept as if `root` were "/"; the same path where
// a part does not exist. For trees that stand still: not against someone who moves links meanwhile.
std::string resolve_below(const std::string& root, const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  std::deque<std::string> rest;
  for (std::string& part : split(path, '/')) rest.push_back(std::move(part));
  std::vector<std::string> done;
  const auto location = [&] { return root + (done.empty() ? "" : "/") + join(done, "/"); };
  for (int links = 0; !rest.empty();) {
    const std::string part = std::move(rest.front());
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!done.empty()) done.pop_back();
      continue;
    }
    done.push_back(part);
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(location(), error).string();
    if (error) continue;                                 // not a link
    if (++links > kMostLinks) return root + "/" + path;  // opening it says ELOOP or ENOENT
    done.pop_back();
    if (target.starts_with('/')) done.clear();
    std::vector<std::string> parts = split(target, '/');
    rest.insert(rest.begin(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  return location();
}

std::string locate(const std::string& root, const std::string& path) {
  return root.empty() ? path : resolve_below(root, path);
}

Result<std::string> read_whole(const std::string& path, int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return cannot("read", path, reason(errno));
  if (S_ISDIR(status.st_mode)) return cannot("read", path, "expected a file, found a folder");
  // Files of /proc say that they are empty: the size is a hint, the end is where read() says so.
  constexpr std::size_t kSmallest = 4096;
  std::string content;
  std::size_t filled = 0;
  content.resize(std::max(kSmallest, static_cast<std::size_t>(status.st_size) + 1));
  for (;;) {
    if (filled == content.size()) content.resize(content.size() * 2);
    const ssize_t count = ::read(descriptor, content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot("read", path, reason(errno));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  content.resize(filled);
  return content;
}

// 0 or an errno.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int sync(int descriptor) {
  if (fsync(descriptor) == 0) return 0;
  // Some file systems cannot; they keep the order of a write and a rename as well as they can.
  return errno == EINVAL || errno == ENOTSUP || errno == EROFS ? 0 : errno;
}

using Producer = std::function<Result<void>(const ByteSink&)>;

// To the descriptor of a file; errors name `path`, the one that was asked for.
Result<void> fill(Descriptor& file, const std::string& path, const Producer& produce) {
  return produce([&](std::string_view content) -> Result<void> {
    if (const int error = write_all(file.get(), content)) return cannot_write(path, error);
    return {};
  });
}

Result<void> write_new_file(const std::string& temporary, const std::string& path, const Producer& produce,
                            std::optional<mode_t> mode) {
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return cannot_write(path, errno);
  Result<void> written = [&]() -> Result<void> {
    if (mode && fchmod(file.get(), *mode) != 0) return cannot_write(path, errno);
    DEEPGAP_RETURN_IF_ERROR(fill(file, path, produce));
    if (const int error = sync(file.get())) return cannot_write(path, error);
    if (!file.close()) return cannot_write(path, errno);
    return {};
  }();
  if (!written.ok()) unlink(temporary.c_str());
  return written;
}

// A device or a pipe (/dev/stdout, /dev/null) cannot be replaced, only written to.
Result<void> write_through(const std::string& path, const Producer& produce) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return cannot_write(path, errno);
  DEEPGAP_RETURN_IF_ERROR(fill(file, path, produce));
  if (!file.close()) return cannot_write(path, errno);
  return {};
}

}  // namespace

std::optional<std::string> FileSystem::read_trimmed(const std::string& path) const {
  const Result<std::string> content = read(path);
  if (!content) return std::nullopt;
  return std::string(trim(*content));
}

Result<std::string> RootedFileSystem::read(const std::string& path) const {
  const std::string place = locate(root_, path);
  Descriptor file(::open(place.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return cannot("read", place, reason(errno));
  try {
    return read_whole(place, file.get());
  } catch (const std::exception&) {  // bad_alloc, length_error
    return cannot("read", place, "it is larger than the memory that is free");
  }
}

std::vector<std::string> RootedFileSystem::list(const std::string& path) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(locate(root_, path).c_str()), closedir);
  if (!folder) return names;
  while (const dirent* entry = readdir(folder.get())) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool RootedFileSystem::exists(const std::string& path) const {
  struct stat status {};
  return stat(locate(root_, path).c_str(), &status) == 0;
}

Result<void> write_file_atomically(const std::string& path, std::string_view content) {
  return write_file_atomically(path, [content](const ByteSink& write) { return write(content); });
}

Result<void> write_file_atomically(const std::string& path, const Producer& produce) {
  std::optional<mode_t> mode;  // of the file that is replaced
  std::string target = path;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return cannot("write", path, "expected a file, found a folder");
    if (!S_ISREG(status.st_mode)) return write_through(path, produce);
    mode = status.st_mode & 07777;
    // Through a link, the file it leads to is replaced, not the link.
    const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
    if (!real) return cannot_write(path, errno);
    target = real.get();
  }
  const std::size_t slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  if (slash + 1 == target.size())
    return cannot("write", path, "expected the name of a file, found a folder's");
  const std::string temporary = fmt::format("{}/.deepgap-{}.partial", folder, new_random_hex(16));

  DEEPGAP_RETURN_IF_ERROR(write_new_file(temporary, path, produce, mode));
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    return cannot_write(path, error);
  }
  Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return {};  // a folder that we may write but not read cannot be synced
  if (const int error = sync(directory.get())) return cannot_write(path, error);
  return {};
}

Result<void> make_folders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error) return cannot("make the folder", path, error.message());
  return {};
}

Result<Bytes> free_space(const std::string& path) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(path, error);
  if (error) return cannot("find the free space of", path, error.message());
  struct statvfs status {};
  while (statvfs(place.c_str(), &status) != 0) {
    const bool goes_up = (errno == ENOENT || errno == ENOTDIR) && place != place.parent_path();
    if (!goes_up) return cannot("find the free space of", path, reason(errno));
    place = place.parent_path();
  }
  return Bytes{static_cast<std::int64_t>(status.f_bavail * status.f_frsize)};
}

std::string cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (std::string own = variable("DEEPGAP_CACHE"); !own.empty()) return own;
  if (const std::string base = variable("XDG_CACHE_HOME"); !base.empty()) return base + "/deepgap";
  const std::string home = variable("HOME");
  return (home.empty() ? "." : home) + "/.cache/deepgap";
}

}  // namespace deepgap
