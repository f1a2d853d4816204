#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "store/json_columns.h"
#include "store/rows.h"
#include "store/store.h"

namespace deepgap::store {
namespace {

// Of what makes a device another one. Lengths stand before texts, so that no two lists of texts look alike.
std::string fingerprint(const Device& device) {
  std::string text;
  const auto add = [&text](std::string_view part) { text += fmt::format("{}:{};", part.size(), part); };
  add(name_of(device.kind));
  add(device.address);
  add(device.name);
  for (const DeviceFact& fact : device.facts) {
    add(fact.name);
    add(fact.value);
    add(fact.unit);
  }
  return content_hash(text);
}

Result<void> load_facts(Connection& connection, std::int64_t key, Device& device) {
  DEEPGAP_ASSIGN(Statement query,
                 connection.statement("SELECT name, value, unit FROM device_fact WHERE device = ? "
                                      "ORDER BY position"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    device.facts.push_back(
        {std::string(query.text(0)), std::string(query.text(1)), std::string(query.text(2))});
  }
}

Result<std::optional<std::int64_t>> find_device(Connection& connection, const Device& device,
                                                const std::string& hash) {
  DEEPGAP_ASSIGN(Statement known, connection.statement("SELECT key FROM device WHERE fingerprint = ?"));
  known.bind(hash);
  DEEPGAP_ASSIGN(const bool found, known.step());
  if (found) return std::optional(known.integer(0));
  // One whose fingerprint was made when it had facts that migration 002 took away: it gets its new one.
  DEEPGAP_ASSIGN(Statement like, connection.statement("SELECT key FROM device WHERE kind = ? AND address = ? "
                                                      "AND name = ? ORDER BY key DESC"));
  like.bind(name_of(device.kind), device.address, device.name);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, like.step());
    if (!row) return std::optional<std::int64_t>();
    const std::int64_t key = like.integer(0);
    Device stored{.address = device.address, .name = device.name, .kind = device.kind};
    DEEPGAP_RETURN_IF_ERROR(load_facts(connection, key, stored));
    if (fingerprint(stored) != hash) continue;
    DEEPGAP_ASSIGN(Statement update, connection.statement("UPDATE device SET fingerprint = ? WHERE key = ?"));
    DEEPGAP_RETURN_IF_ERROR(update.run(hash, key));
    return std::optional(key);
  }
}

Result<void> replace_aliases(Connection& connection, std::int64_t key, const Device& device) {
  const std::string aliases = texts_to_json(device.aliases);
  DEEPGAP_ASSIGN(Statement update,
                 connection.statement("UPDATE device SET aliases = ?1 WHERE key = ?2 AND aliases IS NOT ?1"));
  return update.run(null_if_empty(aliases), key);
}

Result<std::int64_t> insert_device(Connection& connection, const Device& device, const std::string& hash) {
  DEEPGAP_ASSIGN(Statement insert,
                 connection.statement("INSERT INTO device (fingerprint, kind, address, name, aliases) "
                                      "VALUES (?, ?, ?, ?, ?)"));
  DEEPGAP_RETURN_IF_ERROR(insert.run(hash, name_of(device.kind), device.address, device.name,
                                     null_if_empty(texts_to_json(device.aliases))));
  const std::int64_t key = sqlite3_last_insert_rowid(connection.handle());
  DEEPGAP_ASSIGN(Statement insert_fact,
                 connection.statement("INSERT INTO device_fact (device, position, name, value, "
                                      "unit) VALUES (?, ?, ?, ?, ?)"));
  for (std::size_t i = 0; i < device.facts.size(); ++i) {
    const DeviceFact& fact = device.facts[i];
    DEEPGAP_RETURN_IF_ERROR(insert_fact.run(key, i, fact.name, fact.value, fact.unit));
  }
  return key;
}

Result<void> add_ceilings(Connection& connection, std::int64_t key, const Device& device,
                          CeilingPolicy policy) {
  DEEPGAP_ASSIGN(Statement stored,
                 connection.statement("SELECT value, unit, note FROM ceiling WHERE device = ? AND "
                                      "quantity = ? AND origin = ? ORDER BY key DESC"));
  DEEPGAP_ASSIGN(Statement insert,
                 connection.statement("INSERT INTO ceiling (device, quantity, value, unit, origin, "
                                      "note) VALUES (?, ?, ?, ?, ?, ?)"));
  for (const Ceiling& ceiling : device.ceilings) {
    stored.bind(key, ceiling.quantity, name_of(ceiling.origin));
    bool known = false;
    while (!known) {
      DEEPGAP_ASSIGN(const bool row, stored.step());
      if (!row) break;
      known = stored.real(0) == ceiling.value && stored.text(1) == name_of(ceiling.unit) &&
              stored.text(2) == ceiling.note;
      if (policy == CeilingPolicy::kNewestWins) break;
    }
    if (known) continue;
    DEEPGAP_RETURN_IF_ERROR(insert.run(key, ceiling.quantity, ceiling.value, name_of(ceiling.unit),
                                       name_of(ceiling.origin), ceiling.note));
  }
  return {};
}

Result<void> load_ceilings(Connection& connection, std::int64_t key, Device& device) {
  DEEPGAP_ASSIGN(
      Statement query,
      connection.statement("SELECT quantity, value, unit, origin, note FROM ceiling WHERE key IN (SELECT "
                           "max(key) FROM ceiling WHERE device = ? GROUP BY quantity, origin) ORDER BY key"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    const std::optional<Unit> unit = parse_unit(query.text(2));
    const std::optional<Origin> origin = parse_origin(query.text(3));
    if (!unit.has_value() || !origin.has_value()) {
      return bad_input(
          fmt::format("expected a unit and an origin of ceiling '{}' of device '{}', found '{}' and '{}': "
                      "the store is damaged",
                      printable(query.text(0)), printable(device.name), printable(query.text(2)),
                      printable(query.text(3))));
    }
    device.ceilings.push_back(
        {std::string(query.text(0)), query.real(1), *unit, *origin, std::string(query.text(4))});
  }
}

}  // namespace

Result<std::int64_t> upsert_device(Connection& connection, const Device& device, CeilingPolicy policy) {
  const std::string hash = fingerprint(device);
  DEEPGAP_ASSIGN(std::optional<std::int64_t> key, find_device(connection, device, hash));
  if (key.has_value()) {
    DEEPGAP_RETURN_IF_ERROR(replace_aliases(connection, *key, device));
  } else {
    DEEPGAP_ASSIGN(key, insert_device(connection, device, hash));
  }
  DEEPGAP_RETURN_IF_ERROR(add_ceilings(connection, *key, device, policy));
  return *key;
}

Result<Device> load_device(Connection& connection, std::int64_t key, bool full) {
  DEEPGAP_ASSIGN(Statement query,
                 connection.statement("SELECT kind, address, name, aliases FROM device WHERE key = ?"));
  query.bind(key);
  DEEPGAP_ASSIGN(const bool found, query.step());
  if (!found)
    return bad_input(fmt::format("expected device {}, found no such row: the store is damaged", key));
  Device device;
  const std::optional<DeviceKind> kind = parse_device_kind(query.text(0));
  if (!kind.has_value()) {
    return bad_input(
        fmt::format("expected 'cpu' or 'gpu' as the kind of device '{}', found '{}': the store is damaged",
                    printable(query.text(2)), printable(query.text(0))));
  }
  device.kind = *kind;
  device.address = query.text(1);
  device.name = query.text(2);
  DEEPGAP_ASSIGN(device.aliases, texts_from_json(query.text(3)));
  if (full) {
    DEEPGAP_RETURN_IF_ERROR(load_facts(connection, key, device));
    DEEPGAP_RETURN_IF_ERROR(load_ceilings(connection, key, device));
  }
  return device;
}

Result<void> Store::save_device(const Device& device) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_RETURN_IF_ERROR(upsert_device(*connection_, device, CeilingPolicy::kNewestWins));
  return transaction.commit();
}

Result<std::vector<Device>> Store::devices() {
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(*connection_));
  DEEPGAP_ASSIGN(Statement query, connection_->statement("SELECT key FROM device ORDER BY key DESC"));
  std::vector<Device> devices;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return devices;
    DEEPGAP_ASSIGN(Device device, load_device(*connection_, query.integer(0), true));
    devices.push_back(std::move(device));
  }
}

}  // namespace deepgap::store
