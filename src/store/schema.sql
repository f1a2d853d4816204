-- The tables of a deepgap store, version 2. docs/store.md explains them and how the sample columns are encoded.
--
-- Raw facts only: nothing here is computed from something else here. Times are integer nanoseconds, those with
-- realtime in the name since 1970 UTC, those with _at_ns or start_ns on CLOCK_MONOTONIC. NULL is unknown.
--
-- Whoever changes a table here adds migrations/NNN_what.sql that leads older stores to the same tables, and raises the
-- version (schema.h); a test compares the two ways.

CREATE TABLE sweep (
  id                   TEXT    NOT NULL PRIMARY KEY,  -- 16 hexadecimal digits
  created_realtime_ns  INTEGER NOT NULL,
  finished_realtime_ns INTEGER,                       -- NULL: interrupted, or still running
  seed                 TEXT    NOT NULL,              -- decimal, 64 bits without sign
  command_line         TEXT    NOT NULL,
  plan                 TEXT    NOT NULL               -- JSON, the planner's own
) STRICT;

CREATE TABLE device (
  key         INTEGER NOT NULL PRIMARY KEY,
  fingerprint TEXT    NOT NULL UNIQUE,  -- hash of kind, address, name and facts
  kind        TEXT    NOT NULL,         -- 'cpu', 'gpu'
  address     TEXT    NOT NULL,         -- 'cpu', 'cuda:0'
  name        TEXT    NOT NULL,
  aliases     TEXT                      -- JSON array of texts; NULL: none
) STRICT;

CREATE TABLE device_fact (
  device   INTEGER NOT NULL REFERENCES device (key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name     TEXT    NOT NULL,            -- 'cores.physical'
  value    TEXT    NOT NULL,
  unit     TEXT    NOT NULL,            -- '' where it has none
  PRIMARY KEY (device, position)
) STRICT, WITHOUT ROWID;

-- Never overwritten: the newest row (largest key) of a device, quantity and origin is in force.
CREATE TABLE ceiling (
  key      INTEGER NOT NULL PRIMARY KEY,
  device   INTEGER NOT NULL REFERENCES device (key) ON DELETE CASCADE,
  quantity TEXT    NOT NULL,            -- 'flops.fp32.vector'
  value    REAL    NOT NULL,
  unit     TEXT    NOT NULL,            -- 'FLOP/s'
  origin   TEXT    NOT NULL,            -- 'datasheet', 'probe', 'measured'
  note     TEXT    NOT NULL
) STRICT;
CREATE INDEX ceiling_of_device ON ceiling (device);

-- One cell of one run.
CREATE TABLE measurement (
  key                 INTEGER NOT NULL PRIMARY KEY,
  id                  TEXT    NOT NULL UNIQUE,  -- 16 hexadecimal digits; the same in every store it is merged into
  created_realtime_ns INTEGER NOT NULL,
  sweep               TEXT    REFERENCES sweep (id),
  model               TEXT    NOT NULL,
  model_hash          TEXT    NOT NULL,
  dims                TEXT,                     -- JSON object of integers, {"seq":128}; NULL: none but the batch
  batch               INTEGER NOT NULL,
  precision           TEXT    NOT NULL,         -- 'fp32', ...
  mode                TEXT    NOT NULL,         -- 'latency', 'throughput', 'server'
  engine              TEXT    NOT NULL,
  engine_version      TEXT    NOT NULL,
  device_address      TEXT    NOT NULL,         -- as the cell was planned: 'cpu', 'cuda:0'
  device              INTEGER NOT NULL REFERENCES device (key),
  planned_processes   INTEGER NOT NULL,
  origin              TEXT    NOT NULL,         -- 'run', 'import:FORMAT', 'merge'
  target              REAL                      -- half-width asked of the median's 95 % interval, relative; NULL: none
) STRICT;
CREATE INDEX measurement_by_time ON measurement (created_realtime_ns, key);
CREATE INDEX measurement_of_sweep ON measurement (sweep);

-- What one process of a cell gave; its samples are in the table samples.
CREATE TABLE process (
  measurement         INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process             INTEGER NOT NULL,         -- 0, 1, ...: the repeat
  samples             INTEGER NOT NULL,         -- length of each of its sample columns
  load_ns             INTEGER,
  first_call_ns       INTEGER,
  warmup_calls        INTEGER NOT NULL,
  warmup_ns           INTEGER NOT NULL,
  window_ns           INTEGER,                  -- throughput: the span over which `completed` calls ended
  completed           INTEGER NOT NULL,
  peak_memory         INTEGER,                  -- bytes, resident
  peak_device_memory  INTEGER,                  -- bytes, of the engine's allocator
  stop_reason         TEXT    NOT NULL,
  started_at_ns       INTEGER NOT NULL,         -- the same moment on both clocks
  started_realtime_ns INTEGER NOT NULL,
  PRIMARY KEY (measurement, process)
) STRICT, WITHOUT ROWID;

-- Sample columns, encoded. The column comes first in the key, so that all host times lie together in the file and a
-- list reads nothing else.
CREATE TABLE samples (
  quantity    INTEGER NOT NULL,  -- 1 host_ns, 2 start_ns, 3 enqueue_ns, 4 device_ns
  measurement INTEGER NOT NULL,
  process     INTEGER NOT NULL,
  data        BLOB    NOT NULL,
  PRIMARY KEY (quantity, measurement, process),
  FOREIGN KEY (measurement, process) REFERENCES process ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Run context. Rows with process NULL hold for the whole cell; a process has rows of its own where it found otherwise.
CREATE TABLE setting (
  key         INTEGER NOT NULL PRIMARY KEY,
  measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process     INTEGER,
  name        TEXT    NOT NULL,
  requested   TEXT,              -- NULL: nobody asked
  effective   TEXT               -- NULL: not known
) STRICT;
CREATE INDEX setting_of_measurement ON setting (measurement);

CREATE TABLE diagnostic (
  key         INTEGER NOT NULL PRIMARY KEY,
  measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process     INTEGER,           -- NULL: of the whole cell
  id          TEXT    NOT NULL,  -- of the catalogue
  severity    TEXT    NOT NULL,  -- 'note', 'warning', 'error'
  place       TEXT    NOT NULL,  -- cell, file, step: what it is about
  text        TEXT    NOT NULL,
  count       INTEGER NOT NULL
) STRICT;
CREATE INDEX diagnostic_of_measurement ON diagnostic (measurement);

CREATE TABLE telemetry (
  key         INTEGER NOT NULL PRIMARY KEY,
  measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process     INTEGER,           -- NULL: of the whole cell
  quantity    TEXT    NOT NULL,  -- 'power', 'clock.sm'
  source      TEXT    NOT NULL,  -- 'nvml:GPU-...', 'cpufreq:cpu0'
  unit        TEXT    NOT NULL,
  at_ns       BLOB    NOT NULL,  -- encoded as sample columns are
  value       BLOB    NOT NULL
) STRICT;
CREATE INDEX telemetry_of_measurement ON telemetry (measurement);

CREATE TABLE accuracy (
  key         INTEGER NOT NULL PRIMARY KEY,
  measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process     INTEGER,           -- NULL: of the whole cell
  reference   TEXT    NOT NULL,  -- 'openvino/cpu/fp32'
  quantity    TEXT    NOT NULL,  -- 'relative_l2', 'top1_agreement'
  value       REAL,              -- NULL: not a number
  n           INTEGER NOT NULL   -- values compared
) STRICT;
CREATE INDEX accuracy_of_measurement ON accuracy (measurement);

-- What a foreign tool reported without the samples behind it.
CREATE TABLE reported (
  key         INTEGER NOT NULL PRIMARY KEY,
  measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
  process     INTEGER,           -- NULL: of the whole cell
  run         INTEGER NOT NULL,  -- which of the tool's own runs
  metric      TEXT    NOT NULL,  -- of the catalogue: 'p99', 'throughput'
  value       REAL,              -- NULL: not a number
  unit        TEXT    NOT NULL,  -- 'ns', 'samples/s'
  n           INTEGER            -- observations behind it; NULL: the tool does not say
) STRICT;
CREATE INDEX reported_of_measurement ON reported (measurement);

-- Why a cell has no samples, or not all that were planned.
CREATE TABLE failure (
  measurement INTEGER NOT NULL PRIMARY KEY REFERENCES measurement (key) ON DELETE CASCADE,
  kind        TEXT    NOT NULL,  -- 'out_of_memory', 'crash', 'hang', 'unsupported', 'protocol', 'refused'
  text        TEXT    NOT NULL,
  bytes_asked INTEGER
) STRICT;

CREATE TABLE trace (
  key                 INTEGER NOT NULL PRIMARY KEY,
  id                  TEXT    NOT NULL UNIQUE,  -- 16 hexadecimal digits
  measurement         INTEGER REFERENCES measurement (key) ON DELETE CASCADE,  -- NULL: a trace by itself
  process             INTEGER,
  format              TEXT    NOT NULL,         -- 'chrome', 'engine-profile': an importer's name
  source              TEXT    NOT NULL,         -- the file's name as given, or the engine
  content_hash        TEXT    NOT NULL,         -- of the file; '' where there is none
  created_realtime_ns INTEGER NOT NULL,
  clock_at_ns         INTEGER,                  -- the same moment on the trace's clock and on the wall clock
  clock_realtime_ns   INTEGER
) STRICT;
CREATE INDEX trace_of_measurement ON trace (measurement);

-- Texts of op records, each once: a trace has a million records and some hundred different texts.
CREATE TABLE op_text (
  key  INTEGER NOT NULL PRIMARY KEY,
  text TEXT    NOT NULL UNIQUE
) STRICT;

-- One operator or kernel interval.
CREATE TABLE op_record (
  trace          INTEGER NOT NULL REFERENCES trace (key) ON DELETE CASCADE,
  position       INTEGER NOT NULL,  -- 0, 1, ...: parent refers to it
  name           INTEGER NOT NULL REFERENCES op_text (key),
  role           TEXT    NOT NULL,  -- 'op', 'runtime_call', 'kernel', 'copy', 'memset', 'synchronisation', 'annotation'
  op_class       INTEGER REFERENCES op_text (key),  -- NULL: unknown
  shapes         INTEGER REFERENCES op_text (key),  -- JSON array of arrays of integers; NULL: none
  dtypes         INTEGER REFERENCES op_text (key),  -- JSON array of texts; NULL: none
  module_path    INTEGER REFERENCES op_text (key),  -- NULL: unknown
  start_at_ns    INTEGER NOT NULL,
  duration_ns    INTEGER NOT NULL,
  lane           INTEGER REFERENCES op_text (key),  -- thread or stream; NULL: unknown
  parent         INTEGER,           -- position of the record around it
  correlation    INTEGER,           -- joins launch and kernel
  flops          INTEGER,           -- a multiply-add counts as 2
  bytes          INTEGER,
  precision_path TEXT,              -- the arithmetic that ran: 'fp32', 'tf32', ...
  PRIMARY KEY (trace, position)
) STRICT, WITHOUT ROWID;

-- op_record with its texts in place, for people with a SQL prompt.
CREATE VIEW op_record_text AS
  SELECT r.trace, r.position, n.text AS name, r.role, c.text AS op_class, s.text AS shapes, d.text AS dtypes,
         m.text AS module_path, r.start_at_ns, r.duration_ns, l.text AS lane, r.parent, r.correlation, r.flops, r.bytes,
         r.precision_path
    FROM op_record r
    JOIN op_text n ON n.key = r.name
    LEFT JOIN op_text c ON c.key = r.op_class
    LEFT JOIN op_text s ON s.key = r.shapes
    LEFT JOIN op_text d ON d.key = r.dtypes
    LEFT JOIN op_text m ON m.key = r.module_path
    LEFT JOIN op_text l ON l.key = r.lane;
