// What another program, or a later version, may have put into a store that SQLite finds no fault with.
//
// The input: a byte that says what is done with the store; then values to write into a good store whose
// tables take any type: a column (1 byte, counted over all tables), a row (1 byte), the value's type (1
// byte), its length (1 byte) and bytes.
#include <sqlite3.h>

#include <cstring>

#include "base/file_system.h"
#include "example_store.h"
#include "store/schema.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

struct Place {
  std::string table, column;
};

struct LooseStore {
  std::string bytes;
  std::vector<Place> places;
};

void execute(sqlite3* database, const std::string& sql) {
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  require(code == SQLITE_OK, "SQL that makes the example: " + sql + ": " + sqlite3_errmsg(database));
}

std::vector<std::string> texts(sqlite3* database, const std::string& sql) {
  std::vector<std::string> found;
  sqlite3_stmt* rows = nullptr;
  require(sqlite3_prepare_v2(database, sql.c_str(), -1, &rows, nullptr) == SQLITE_OK, "SQL is right: " + sql);
  while (sqlite3_step(rows) == SQLITE_ROW)
    found.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(rows, 0)));
  sqlite3_finalize(rows);
  return found;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

// The example's rows in tables of the same columns that are neither strict nor of fixed types.
LooseStore make_loose() {
  const std::string strict = write_store(example_store());
  const std::string path = scratch_file("loose.db");
  sqlite3* database = nullptr;
  require(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "a database can be made");
  std::string sql(store::schema_sql());
  for (const char* part :
       {" STRICT, WITHOUT ROWID", " STRICT", "NOT NULL", "INTEGER", "TEXT ", "REAL", "BLOB"}) {
    sql = without(std::move(sql), part);
  }
  execute(database, sql);
  execute(database, "ATTACH '" + strict + "' AS strict");
  LooseStore loose;
  for (const std::string& table :
       texts(database, "SELECT name FROM main.sqlite_master WHERE type = 'table'")) {
    execute(database, "INSERT INTO main." + table + " SELECT * FROM strict." + table);
    for (const std::string& column : texts(database, "SELECT name FROM pragma_table_info('" + table + "')")) {
      loose.places.push_back({table, column});
    }
  }
  for (const char* mark : {"application_id", "user_version"}) {
    const std::string value = texts(database, std::string("PRAGMA strict.") + mark).at(0);
    execute(database, std::string("PRAGMA main.") + mark + " = " + value);
  }
  execute(database, "DETACH strict");
  sqlite3_close(database);
  loose.bytes = RootedFileSystem().read(path).value();
  return loose;
}

const LooseStore& loose_store() {
  static const LooseStore loose = make_loose();
  return loose;
}

void bind(sqlite3_stmt* statement, std::size_t type, std::string_view bytes) {
  const int size = static_cast<int>(bytes.size());
  if (type == 0) {
    sqlite3_bind_null(statement, 1);
  } else if (type == 1) {
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(Reader(bytes).number(8)));
  } else if (type == 2) {
    const std::size_t bits = Reader(bytes).number(8);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    sqlite3_bind_double(statement, 1, value);
  } else if (type == 3) {
    sqlite3_bind_text(statement, 1, bytes.data(), size, SQLITE_TRANSIENT);
  } else {
    sqlite3_bind_blob(statement, 1, bytes.data(), size, SQLITE_TRANSIENT);
  }
}

void survive(std::string_view input) {
  const LooseStore& loose = loose_store();
  const std::string path = write_store(loose.bytes);
  sqlite3* database = nullptr;
  require(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "the example can be opened");
  Reader values(input);
  const std::size_t use = values.number(1);
  while (!values.empty()) {
    const Place& place = loose.places[values.number(1) % loose.places.size()];
    const std::size_t row = values.number(1) % 4;
    const std::size_t type = values.number(1) % 5;
    const std::string sql = "UPDATE " + place.table + " SET " + place.column +
                            " = ? WHERE rowid = (SELECT rowid FROM " + place.table + " LIMIT 1 OFFSET " +
                            std::to_string(row) + ")";
    sqlite3_stmt* statement = nullptr;
    require(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK,
            "SQL is right: " + sql);
    bind(statement, type, values.text(values.number(1)));
    sqlite3_step(statement);  // a value that the table refuses changes nothing
    sqlite3_finalize(statement);
  }
  sqlite3_close(database);
  use_store(path, use);
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds{{"whole", ""}};
  const std::vector<Place>& places = loose_store().places;
  // Each column as what it is least prepared for.
  for (std::size_t column = 0; column < places.size(); ++column) {
    const auto value = [column](std::size_t type, const std::string& bytes) {
      return bytes_of(0, 1) + bytes_of(column, 1) + bytes_of(0, 1) + bytes_of(type, 1) +
             bytes_of(bytes.size(), 1) + bytes;
    };
    const std::string name = places[column].table + "_" + places[column].column;
    seeds.push_back({name + "_least", value(1, bytes_of(std::size_t{1} << 63, 8))});
    seeds.push_back({name + "_text", value(3, "\x1b[31m\xFF")});
    seeds.push_back({name + "_blob", value(4, "\x02" + bytes_of(std::size_t{1} << 63, 8))});
  }
  return seeds;
}

}  // namespace

const Target kStoreValues{"store_values", "a store in which any column may hold anything", survive, seeds};

}  // namespace deepgap::fuzz
