-- The tables of version 1 of the store as they were first released, and one cell in them, its blobs written by hand
-- after docs/store.md. Frozen: never changed, whatever becomes of schema.sql.
CREATE TABLE sweep (
 id TEXT NOT NULL PRIMARY KEY,
 created_realtime_ns INTEGER NOT NULL,
 finished_realtime_ns INTEGER,
 seed TEXT NOT NULL,
 command_line TEXT NOT NULL,
 plan TEXT NOT NULL
) STRICT;
CREATE TABLE device (
 key INTEGER NOT NULL PRIMARY KEY,
 fingerprint TEXT NOT NULL UNIQUE,
 kind TEXT NOT NULL,
 address TEXT NOT NULL,
 name TEXT NOT NULL,
 aliases TEXT
) STRICT;
CREATE TABLE device_fact (
 device INTEGER NOT NULL REFERENCES device (key) ON DELETE CASCADE,
 position INTEGER NOT NULL,
 name TEXT NOT NULL,
 value TEXT NOT NULL,
 unit TEXT NOT NULL,
 PRIMARY KEY (device, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE ceiling (
 key INTEGER NOT NULL PRIMARY KEY,
 device INTEGER NOT NULL REFERENCES device (key) ON DELETE CASCADE,
 quantity TEXT NOT NULL,
 value REAL NOT NULL,
 unit TEXT NOT NULL,
 origin TEXT NOT NULL,
 note TEXT NOT NULL
) STRICT;
CREATE INDEX ceiling_of_device ON ceiling (device);
CREATE TABLE measurement (
 key INTEGER NOT NULL PRIMARY KEY,
 id TEXT NOT NULL UNIQUE,
 created_realtime_ns INTEGER NOT NULL,
 sweep TEXT REFERENCES sweep (id),
 model TEXT NOT NULL,
 model_hash TEXT NOT NULL,
 dims TEXT,
 batch INTEGER NOT NULL,
 precision TEXT NOT NULL,
 mode TEXT NOT NULL,
 engine TEXT NOT NULL,
 engine_version TEXT NOT NULL,
 device_address TEXT NOT NULL,
 device INTEGER NOT NULL REFERENCES device (key),
 planned_processes INTEGER NOT NULL,
 origin TEXT NOT NULL
) STRICT;
CREATE INDEX measurement_by_time ON measurement (created_realtime_ns, key);
CREATE INDEX measurement_of_sweep ON measurement (sweep);
CREATE TABLE process (
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER NOT NULL,
 samples INTEGER NOT NULL,
 load_ns INTEGER,
 first_call_ns INTEGER,
 warmup_calls INTEGER NOT NULL,
 warmup_ns INTEGER NOT NULL,
 window_ns INTEGER,
 completed INTEGER NOT NULL,
 peak_memory INTEGER,
 peak_device_memory INTEGER,
 stop_reason TEXT NOT NULL,
 started_at_ns INTEGER NOT NULL,
 started_realtime_ns INTEGER NOT NULL,
 PRIMARY KEY (measurement, process)
) STRICT, WITHOUT ROWID;
CREATE TABLE samples (
 quantity INTEGER NOT NULL,
 measurement INTEGER NOT NULL,
 process INTEGER NOT NULL,
 data BLOB NOT NULL,
 PRIMARY KEY (quantity, measurement, process),
 FOREIGN KEY (measurement, process) REFERENCES process ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE setting (
 key INTEGER NOT NULL PRIMARY KEY,
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 name TEXT NOT NULL,
 requested TEXT,
 effective TEXT
) STRICT;
CREATE INDEX setting_of_measurement ON setting (measurement);
CREATE TABLE diagnostic (
 key INTEGER NOT NULL PRIMARY KEY,
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 id TEXT NOT NULL,
 severity TEXT NOT NULL,
 place TEXT NOT NULL,
 text TEXT NOT NULL,
 count INTEGER NOT NULL
) STRICT;
CREATE INDEX diagnostic_of_measurement ON diagnostic (measurement);
CREATE TABLE telemetry (
 key INTEGER NOT NULL PRIMARY KEY,
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 quantity TEXT NOT NULL,
 source TEXT NOT NULL,
 unit TEXT NOT NULL,
 at_ns BLOB NOT NULL,
 value BLOB NOT NULL
) STRICT;
CREATE INDEX telemetry_of_measurement ON telemetry (measurement);
CREATE TABLE accuracy (
 key INTEGER NOT NULL PRIMARY KEY,
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 reference TEXT NOT NULL,
 quantity TEXT NOT NULL,
 value REAL,
 n INTEGER NOT NULL
) STRICT;
CREATE INDEX accuracy_of_measurement ON accuracy (measurement);
CREATE TABLE reported (
 key INTEGER NOT NULL PRIMARY KEY,
 measurement INTEGER NOT NULL REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 run INTEGER NOT NULL,
 metric TEXT NOT NULL,
 value REAL,
 unit TEXT NOT NULL,
 n INTEGER
) STRICT;
CREATE INDEX reported_of_measurement ON reported (measurement);
CREATE TABLE failure (
 measurement INTEGER NOT NULL PRIMARY KEY REFERENCES measurement (key) ON DELETE CASCADE,
 kind TEXT NOT NULL,
 text TEXT NOT NULL,
 bytes_asked INTEGER
) STRICT;
CREATE TABLE trace (
 key INTEGER NOT NULL PRIMARY KEY,
 id TEXT NOT NULL UNIQUE,
 measurement INTEGER REFERENCES measurement (key) ON DELETE CASCADE,
 process INTEGER,
 format TEXT NOT NULL,
 source TEXT NOT NULL,
 content_hash TEXT NOT NULL,
 created_realtime_ns INTEGER NOT NULL,
 clock_at_ns INTEGER,
 clock_realtime_ns INTEGER
) STRICT;
CREATE INDEX trace_of_measurement ON trace (measurement);
CREATE TABLE op_text (
 key INTEGER NOT NULL PRIMARY KEY,
 text TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE op_record (
 trace INTEGER NOT NULL REFERENCES trace (key) ON DELETE CASCADE,
 position INTEGER NOT NULL,
 name INTEGER NOT NULL REFERENCES op_text (key),
 role TEXT NOT NULL,
 op_class INTEGER REFERENCES op_text (key),
 shapes INTEGER REFERENCES op_text (key),
 dtypes INTEGER REFERENCES op_text (key),
 module_path INTEGER REFERENCES op_text (key),
 start_at_ns INTEGER NOT NULL,
 duration_ns INTEGER NOT NULL,
 lane INTEGER REFERENCES op_text (key),
 parent INTEGER,
 correlation INTEGER,
 flops INTEGER,
 bytes INTEGER,
 precision_path TEXT,
 PRIMARY KEY (trace, position)
) STRICT, WITHOUT ROWID;
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
PRAGMA application_id = 0x44476170;
PRAGMA user_version = 1;

INSERT INTO sweep VALUES ('00000000000000b1', 1764500000000000000, NULL, '42', 'deepgap run resnet50', '{}');
INSERT INTO device VALUES (1, 'ffffffffffffffffffffffffffffffff', 'cpu', 'cpu', 'A CPU', '["host"]');
INSERT INTO device_fact VALUES (1, 0, 'cores.physical', '2', '');
INSERT INTO ceiling VALUES (1, 1, 'bandwidth.memory', 12.5e9, 'B/s', 'measured', 'stream');
INSERT INTO measurement VALUES (1, '00000000000000c1', 1764500000000000001, '00000000000000b1', 'resnet50', 'abcd',
  '{"seq":128}', 8, 'int8', 'latency', 'openvino', '2026.4.1', 'cpu', 1, 3, 'run');
INSERT INTO process VALUES (1, 0, 2, 1000, 2000, 7, 9000, NULL, 0, 123456, NULL, 'time_limit', 5, 1764500000000000002);
-- 1000000 = 0x0f4240
INSERT INTO samples VALUES (1, 1, 0, x'0140420f0041420f00');
-- 2^32, then a difference of 1
INSERT INTO samples VALUES (2, 1, 0, x'03000000000100000001000000');
INSERT INTO samples VALUES (4, 1, 0, x'02fffffffffffffffffeffffffffffffff');
INSERT INTO setting VALUES (1, 1, NULL, 'cpu.threads', '2', '2');
INSERT INTO diagnostic VALUES (1, 1, 0, 'foreign_load', 'warning', 'cell', 'others used the cores', 1);
-- 0.5 = 0x3f000000, -2 = 0xc0000000
INSERT INTO telemetry VALUES (1, 1, 0, 'temperature', 'hwmon:0', 'degC', x'010100000002000000', x'040000003f000000c0');
INSERT INTO accuracy VALUES (1, 1, NULL, 'openvino/cpu/fp32', 'relative_l2', 0.25, 10);
INSERT INTO reported VALUES (1, 1, NULL, 2, 'p99', 1500000.0, 'ns', NULL);
INSERT INTO failure VALUES (1, 'hang', 'no answer', NULL);
INSERT INTO trace VALUES (1, '00000000000000e1', 1, 0, 'chrome', 'a.json', '', 3, NULL, NULL);
INSERT INTO op_text VALUES (1, 'aten::conv2d');
INSERT INTO op_record VALUES (1, 0, 1, 'op', NULL, NULL, NULL, NULL, 10, 20, NULL, NULL, NULL, NULL, NULL, NULL);
