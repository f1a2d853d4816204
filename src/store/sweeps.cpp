// Sweeps, ids and transactions of a Store.
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "store/rows.h"
#include "store/store.h"

namespace deepgap::store {
namespace {

constexpr std::string_view kSweepColumns =
    "SELECT id, created_realtime_ns, finished_realtime_ns, seed, command_line, plan FROM sweep ";
constexpr int kCandidatesShown = 8;

Result<Sweep> read_sweep(const Statement& row) {
  Sweep sweep;
  sweep.id = SweepId(std::string(row.text(0)));
  sweep.created_realtime_ns = row.integer(1);
  sweep.finished_realtime_ns = row.optional_integer(2);
  const std::string_view seed = row.text(3);
  const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), sweep.seed);
  if (error != std::errc() || end != seed.data() + seed.size()) {
    return bad_input(
        fmt::format("expected a number as the seed of sweep {}, found '{}': the store is damaged",
                    printable(sweep.id.str()), printable(seed)));
  }
  sweep.command_line = row.text(4);
  sweep.plan_json = row.text(5);
  return sweep;
}

Error unknown_sweep(const SweepId& id, const std::string& path) {
  return usage_error(
      fmt::format("expected a sweep of the store '{}', found none with id '{}': see `deepgap list`",
                  printable(path), printable(id.str())));
}

}  // namespace

Result<void> Store::create_sweep(const Sweep& sweep) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_ASSIGN(Statement insert, connection_->statement("INSERT INTO sweep (id, created_realtime_ns, "
                                                          "finished_realtime_ns, seed, command_line, plan) "
                                                          "VALUES (?, ?, ?, ?, ?, ?)"));
  DEEPGAP_RETURN_IF_ERROR(insert.run(sweep.id.str(), sweep.created_realtime_ns, sweep.finished_realtime_ns,
                                     std::to_string(sweep.seed), sweep.command_line, sweep.plan_json));
  return transaction.commit();
}

Result<void> Store::finish_sweep(const SweepId& id, std::int64_t finished_realtime_ns) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_ASSIGN(Statement update,
                 connection_->statement("UPDATE sweep SET finished_realtime_ns = ? WHERE id = ?"));
  DEEPGAP_RETURN_IF_ERROR(update.run(finished_realtime_ns, id.str()));
  if (sqlite3_changes(connection_->handle()) == 0) return unknown_sweep(id, path_);
  return transaction.commit();
}

Result<Sweep> Store::load_sweep(const SweepId& id) {
  DEEPGAP_ASSIGN(Statement query, connection_->statement(std::string(kSweepColumns) + "WHERE id = ?"));
  query.bind(id.str());
  DEEPGAP_ASSIGN(const bool found, query.step());
  if (!found) return unknown_sweep(id, path_);
  return read_sweep(query);
}

Result<std::vector<Sweep>> Store::sweeps() {
  DEEPGAP_ASSIGN(Statement query, connection_->statement(std::string(kSweepColumns) +
                                                         "ORDER BY created_realtime_ns DESC, rowid DESC"));
  std::vector<Sweep> sweeps;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return sweeps;
    DEEPGAP_ASSIGN(Sweep sweep, read_sweep(query));
    sweeps.push_back(std::move(sweep));
  }
}

Result<void> Store::in_one_transaction(const std::function<Result<void>()>& work) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_RETURN_IF_ERROR(work());
  return transaction.commit();
}

Result<std::optional<std::int64_t>> find_measurement(Connection& connection, const MeasurementId& id) {
  DEEPGAP_ASSIGN(Statement query, connection.statement("SELECT key FROM measurement WHERE id = ?"));
  query.bind(id.str());
  DEEPGAP_ASSIGN(const bool found, query.step());
  if (!found) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(query.integer(0));
}

Result<std::int64_t> require_measurement(Connection& connection, const MeasurementId& id) {
  DEEPGAP_ASSIGN(const std::optional<std::int64_t> key, find_measurement(connection, id));
  if (key.has_value()) return *key;
  return usage_error(
      fmt::format("expected a measurement of the store '{}', found none with id '{}': see `deepgap list`",
                  printable(connection.path()), printable(id.str())));
}

Result<MeasurementId> Store::resolve_prefix(std::string_view prefix) {
  const std::string begin = lower(prefix);
  if (begin.empty() || begin.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return usage_error(fmt::format(
        "expected the beginning of a measurement's id, hexadecimal digits, found '{}'", printable(prefix)));
  }
  DEEPGAP_ASSIGN(Statement query,
                 connection_->statement("SELECT id, model, engine, device_address, precision, batch, mode "
                                        "FROM measurement WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"));
  query.bind(begin, begin + "g", kCandidatesShown + 1);  // 'g' follows every hexadecimal digit
  std::vector<std::string> ids;
  std::vector<std::string> candidates;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) break;
    ids.emplace_back(query.text(0));
    candidates.push_back(fmt::format("{} ({}/{}/{}/{}/b{}/{})", query.text(0), query.text(1), query.text(2),
                                     query.text(3), query.text(4), query.integer(5), query.text(6)));
  }
  if (ids.size() == 1) return MeasurementId(ids.front());
  if (ids.empty()) {
    return usage_error(fmt::format(
        "expected a measurement of the store '{}', found none whose id begins with '{}': see `deepgap list`",
        printable(path_), begin));
  }
  if (candidates.size() > kCandidatesShown) candidates.back() = "...";
  return usage_error(
      fmt::format("expected one measurement whose id begins with '{}', found several, give more digits: {}",
                  begin, printable(join(candidates, ", "), 1000)));
}

}  // namespace deepgap::store
