// A sink that remembers, and a fixture that runs plans with the fake worker. For the tests of the sweep only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "base/text.h"
#include "run/run_test_support.h"
#include "run/sweep.h"

namespace deepgap::run {

inline const std::vector<Mode> kLatency{Mode::kLatency};
inline const std::vector<Mode> kBoth{Mode::kLatency, Mode::kThroughput};

struct Event {
  std::string cell;
  int repeat = 0;
  std::string failure;  // its kind; "" for samples
  std::string text;
  std::vector<std::string> doubts;  // ids
};

class RecordingSink final : public SweepSink {
 public:
  std::vector<Event> events;
  std::map<std::string, std::vector<ProcessRun>> processes;
  std::map<std::string, std::vector<Setting>> settings;
  std::map<CellKey, std::vector<ProcessRun>> held;
  std::map<std::string, std::string> ended;  // what was said of a cell after its visits, by cell
  std::size_t room = 1'000'000;              // events until the disk is full

  Result<std::vector<ProcessRun>> earlier(const PlannedCell& cell) override {
    const auto found = held.find(cell.key);
    return found == held.end() ? std::vector<ProcessRun>() : found->second;
  }
  Result<void> visit_done(const PlannedCell& cell, const ProcessRun& process,
                          const std::vector<Setting>& rows, const std::vector<Diagnostic>& diagnostics,
                          const std::vector<TelemetrySeries>&) override {
    processes[cell.key.selector()].push_back(process);
    settings[cell.key.selector()] = rows;
    return add({cell.key.selector(), process.index, "", ""}, diagnostics);
  }
  Result<void> visit_failed(const PlannedCell& cell, int repeat, const CellFailure& failure,
                            const std::vector<Diagnostic>& diagnostics) override {
    return add({cell.key.selector(), repeat, failure.kind, failure.text}, diagnostics);
  }

  Result<void> cell_ended(const PlannedCell& cell, const std::vector<Diagnostic>& diagnostics) override {
    for (const Diagnostic& diagnostic : diagnostics)
      ended[cell.key.selector()] += diagnostic.id + ": " + diagnostic.text;
    return {};
  }

  // "0 1 2", with the failures' kinds behind the repeats that failed: "0 1:crash 2".
  std::string of(const std::string& cell) const {
    std::vector<std::string> all;
    for (const Event& event : events) {
      if (event.cell == cell)
        all.push_back(std::to_string(event.repeat) + (event.failure.empty() ? "" : ":" + event.failure));
    }
    return join(all, " ");
  }

 private:
  Result<void> add(Event event, const std::vector<Diagnostic>& diagnostics) {
    if (events.size() >= room) return bad_input("the disk is full");
    for (const Diagnostic& diagnostic : diagnostics) event.doubts.push_back(diagnostic.id);
    events.push_back(std::move(event));
    return {};
  }
};

class SweepTest : public testing::Test {
 protected:
  Result<SweepOutcome> run(const SweepPlan& plan, SweepObserver* observer = nullptr) {
    return run_sweep(plan, {.workers = {{"fake", program}},
                            .log_folder = folder.path(),
                            .files = files,
                            .sink = &sink,
                            .observer = observer,
                            .stop = &stop});
  }
  SweepOutcome run_well(const SweepPlan& plan, SweepObserver* observer = nullptr) {
    const Result<SweepOutcome> outcome = run(plan, observer);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    return outcome.ok() ? *outcome : SweepOutcome{};
  }
  std::vector<std::string> logs() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder;
  WorkerProgram program = fake_worker();
  RootedFileSystem machine;
  const FileSystem* files = nullptr;  // the watch is looked at where a test sets it
  RecordingSink sink;
  StopRequest stop;
};

}  // namespace deepgap::run
