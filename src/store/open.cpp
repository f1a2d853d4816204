#include "store/open.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/text.h"

namespace deepgap::store {
namespace {

constexpr int kPageBytes = 8192;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

// What stands at the path before SQLite has touched it.
struct FileState {
  bool exists = false;
  std::int64_t bytes = 0;
};

// What a file that does not begin as SQLite's do seems to be.
std::string describe_content(std::string_view head, std::int64_t bytes) {
  const std::string_view text = trim(head.starts_with("\xEF\xBB\xBF") ? head.substr(3) : head);
  if (text.starts_with('<')) return "an HTML or XML page";
  if (text.starts_with('{') || text.starts_with('[')) return "JSON text";
  if (head.starts_with("\x1F\x8B") || head.starts_with("\x28\xB5\x2F\xFD") ||
      head.starts_with("PK\x03\x04")) {
    return "a compressed file";
  }
  return fmt::format("{} bytes that do not begin as an SQLite file does", bytes);
}

Error not_a_store(const std::string& path, std::string_view found) {
  return bad_input(fmt::format("expected a deepgap store in '{}', found {}: name another file with --db",
                               printable(path), found));
}

bool has_journal(const std::string& path) {
  struct stat status {};
  for (const std::string_view suffix : {"-wal", "-journal"}) {
    if (stat((path + std::string(suffix)).c_str(), &status) == 0 && status.st_size > 0) return true;
  }
  return false;
}

// A whole file is as long as its header says, which SQLite checks only by pages. Another process may just be
// moving its journal into the file: what looks cut off must do so twice, without a journal. Offsets as in
// sqlite.org/fileformat.html.
bool is_cut_off(const std::string& path) {
  for (int look = 0; look < 2; ++look) {
    if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (has_journal(path)) return false;
    std::array<unsigned char, 32> head{};
    std::int64_t bytes = 0;
    {
      const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) return false;
      struct stat status {};
      const bool readable =
          fstat(descriptor, &status) == 0 && ::read(descriptor, head.data(), head.size()) == 32;
      ::close(descriptor);
      if (!readable) return false;
      bytes = status.st_size;
    }
    const std::int64_t stored_page = head[16] * 256 + head[17];
    const std::int64_t page = stored_page == 1 ? 65536 : stored_page;
    const std::int64_t pages = ((std::int64_t{head[28]} * 256 + head[29]) * 256 + head[30]) * 256 + head[31];
    if (bytes >= page * pages || has_journal(path)) return false;
  }
  return true;
}

// Looks before SQLite does, so that what is no database gets a sentence that says what it is.
Result<FileState> look_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return FileState{};
    return bad_input(
        fmt::format("expected a deepgap store in '{}', found that it cannot be reached ({}): check the path",
                    printable(path), std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) return not_a_store(path, "a folder");
  if (!S_ISREG(status.st_mode)) return not_a_store(path, "something that is no regular file");

  FileState state{true, status.st_size};
  if (state.bytes == 0) return state;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return bad_input(fmt::format(
        "expected to read the store '{}', found that it cannot be opened ({}): check its permissions",
        printable(path), std::strerror(errno)));
  }
  std::array<char, 100> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  ::close(descriptor);
  const std::string_view head(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!head.starts_with(kMagic.substr(0, std::min(head.size(), kMagic.size())))) {
    return not_a_store(path, describe_content(head, state.bytes));
  }
  if (head.size() < buffer.size()) {
    return not_a_store(path, fmt::format("an SQLite file that was cut off after {} bytes", state.bytes));
  }
  if (is_cut_off(path)) {
    return bad_input(
        fmt::format("expected the store '{}' to be whole, found it cut off after {} bytes: restore it from a "
                    "copy, or save what is left with `sqlite3 OLD .recover | sqlite3 NEW`",
                    printable(path), state.bytes));
  }
  return state;
}

// "file:" form of a path, with what would be special in it escaped.
std::string uri_of(const std::string& path, std::string_view query) {
  std::string uri = "file:";
  // A path that begins with "//" would be read as one of another host.
  if (path.starts_with("//")) uri += "//";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02x}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  uri += query;
  return uri;
}

// A store may come from elsewhere: nothing in it may run code, and a damaged page is an error instead of a
// crash. No mmap: a file that another process cuts off would kill us.
Result<void> harden(Connection& connection) {
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return connection.execute(
      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
      "PRAGMA cache_size = -8192");
}

// The change to WAL wants the file for a moment alone and does not wait for it by itself.
Result<void> set_wal(Connection& connection) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + kBusyTimeout;
  while (true) {
    Result<void> changed = connection.execute("PRAGMA journal_mode = WAL");
    if (changed.ok()) return {};
    const int code = sqlite3_errcode(connection.handle());
    if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || Clock::now() >= end) return changed;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<std::unique_ptr<Connection>> open_to_write(const std::string& path, const FileState& file,
                                                  const Schema& schema) {
  // SQLite would try again without writing and report that failure instead.
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  if (!file.exists && access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
    return bad_input(
        fmt::format("expected to make the store '{}', found that its folder cannot be written to ({}): check "
                    "the path and the folder's permissions, or name another store with --db",
                    printable(path), std::strerror(errno)));
  }
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
  DEEPGAP_ASSIGN(auto connection, Connection::open(path, uri_of(path, ""), kFlags));
  if (sqlite3_db_readonly(connection->handle(), "main") == 1) return connection->error_of(SQLITE_READONLY);
  DEEPGAP_RETURN_IF_ERROR(harden(*connection));
  DEEPGAP_ASSIGN(DatabaseState state, inspect(*connection));
  DEEPGAP_RETURN_IF_ERROR(check_usable(*connection, state, schema));
  if (!state.is_empty && state.version == schema.version)
    DEEPGAP_RETURN_IF_ERROR(check_tables(*connection, schema));
  if (file.bytes == 0) {
    DEEPGAP_RETURN_IF_ERROR(connection->execute(fmt::format("PRAGMA page_size = {}", kPageBytes)));
  }
  DEEPGAP_RETURN_IF_ERROR(set_wal(*connection));
  // NORMAL in WAL: a commit survives our death, not a power cut (docs/store.md).
  DEEPGAP_RETURN_IF_ERROR(
      connection->execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 512"));
  if (state.is_empty || state.version != schema.version)
    DEEPGAP_RETURN_IF_ERROR(bring_up_to_date(*connection, schema));
  DEEPGAP_RETURN_IF_ERROR(connection->execute("PRAGMA foreign_keys = ON"));
  return connection;
}

// A new store in memory, for reading an empty file.
Result<std::unique_ptr<Connection>> open_nothing(const std::string& path, const Schema& schema) {
  DEEPGAP_ASSIGN(auto connection,
                 Connection::open(path, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  DEEPGAP_RETURN_IF_ERROR(bring_up_to_date(*connection, schema));
  DEEPGAP_RETURN_IF_ERROR(connection->execute("PRAGMA query_only = ON"));
  return connection;
}

// A copy of an older store in a private temporary file, brought up to date there: reading changes no store.
Result<std::unique_ptr<Connection>> migrated_copy(Connection& older, const Schema& schema) {
  DEEPGAP_ASSIGN(auto copy, Connection::open(older.path(), "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  sqlite3_backup* backup = sqlite3_backup_init(copy->handle(), "main", older.handle(), "main");
  if (backup == nullptr) return copy->error();
  int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) code = finished;
  if (code != SQLITE_OK)
    return copy->error_of(code).in("copying a store of an older version to a temporary file");
  DEEPGAP_RETURN_IF_ERROR(harden(*copy));
  DEEPGAP_RETURN_IF_ERROR(bring_up_to_date(*copy, schema));
  DEEPGAP_RETURN_IF_ERROR(copy->execute("PRAGMA query_only = ON"));
  return copy;
}

struct Opened {
  std::unique_ptr<Connection> connection;
  DatabaseState state;
};

enum class Sharing { kShared, kAlone };

Result<Opened> try_to_read(const std::string& path, std::string_view query, int flags,
                           Sharing sharing = Sharing::kShared) {
  DEEPGAP_ASSIGN(auto connection, Connection::open(path, uri_of(path, query), flags | SQLITE_OPEN_URI));
  DEEPGAP_RETURN_IF_ERROR(harden(*connection));
  DEEPGAP_RETURN_IF_ERROR(connection->execute("PRAGMA query_only = ON"));
  // Who is alone keeps the index of the journal in memory instead of in a file.
  if (sharing == Sharing::kAlone) {
    DEEPGAP_RETURN_IF_ERROR(connection->execute("PRAGMA locking_mode = EXCLUSIVE"));
    sqlite3_busy_timeout(connection->handle(), 0);
  }
  DEEPGAP_ASSIGN(const DatabaseState state, inspect(*connection));
  return Opened{std::move(connection), state};
}

// In WAL mode even a reader wants to make files beside the store. Where it cannot, on a read-only or full
// disk, there are ways without; the error is that of the first.
Result<Opened> open_readable(const std::string& path) {
  // With write permission, so that the last to close can remove the journal; query_only keeps us from
  // changing anything.
  Result<Opened> first = try_to_read(path, "", SQLITE_OPEN_READWRITE);
  if (first.ok()) return first;
  Result<Opened> read_only = try_to_read(path, "?mode=ro", SQLITE_OPEN_READONLY);
  if (read_only.ok()) return read_only;
  Result<Opened> alone = try_to_read(path, "", SQLITE_OPEN_READWRITE, Sharing::kAlone);
  if (alone.ok()) return alone;
  // As a file that nobody changes, which must not have more of it in a journal.
  if (has_journal(path)) return first;
  Result<Opened> unchanging = try_to_read(path, "?mode=ro&immutable=1", SQLITE_OPEN_READONLY);
  if (unchanging.ok()) return unchanging;
  return first;
}

Result<std::unique_ptr<Connection>> open_to_read(const std::string& path, const FileState& file,
                                                 const Schema& schema) {
  if (!file.exists) {
    return bad_input(
        fmt::format("expected a deepgap store in '{}', found no such file: measure something with "
                    "`deepgap run`, or name another store with --db",
                    printable(path)));
  }
  if (file.bytes == 0) return open_nothing(path, schema);
  DEEPGAP_ASSIGN(Opened opened, open_readable(path));
  DEEPGAP_RETURN_IF_ERROR(check_usable(*opened.connection, opened.state, schema));
  if (opened.state.is_empty) return open_nothing(path, schema);
  if (opened.state.version < schema.version) return migrated_copy(*opened.connection, schema);
  DEEPGAP_RETURN_IF_ERROR(check_tables(*opened.connection, schema));
  return std::move(opened.connection);
}

}  // namespace

Result<std::unique_ptr<Connection>> open_connection(const std::string& path, OpenMode mode,
                                                    const Schema& schema) {
  if (path.empty())
    return usage_error("expected the path of a store, found an empty one: name a file with --db");
  DEEPGAP_ASSIGN(const FileState file, look_at(path));
  return mode == OpenMode::kWrite ? open_to_write(path, file, schema) : open_to_read(path, file, schema);
}

Result<Store> Store::open(const std::string& path, OpenMode mode) {
  DEEPGAP_ASSIGN(auto connection, open_connection(path, mode, current_schema()));
  return Store(path, std::move(connection));
}

Store::Store(std::string path, std::unique_ptr<Connection> connection)
    : path_(std::move(path)), connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

}  // namespace deepgap::store
