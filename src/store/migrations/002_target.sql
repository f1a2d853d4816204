-- The half-width that a cell's interval was to have, until now only a setting of its processes, so that whether it was
-- reached is told from the cell's own interval. The doubts that each process raised about that go: they are derived now.

ALTER TABLE measurement ADD COLUMN target REAL;

UPDATE measurement SET target = (
  SELECT CAST(effective AS REAL) FROM setting
   WHERE measurement = measurement.key AND name = 'run.target' AND CAST(effective AS REAL) > 0 ORDER BY key LIMIT 1);

DELETE FROM diagnostic
 WHERE id = 'precision_not_reached' AND measurement IN (SELECT key FROM measurement WHERE target IS NOT NULL);

-- Facts that change from one moment to the next made a device of its own of every sweep: they go, and what is then the
-- same device becomes one, the last stored. Its fingerprint is brought up to date when it is stored again.

DELETE FROM device_fact WHERE name IN ('memory.available', 'clock.current');

CREATE TEMP TABLE device_twin AS
  SELECT key, max(key) OVER (PARTITION BY kind, address, name, facts) AS kept FROM (
    SELECT key, kind, address, name, (
      SELECT group_concat(quote(name) || quote(value) || quote(unit)) FROM (
        SELECT name, value, unit FROM device_fact WHERE device = d.key ORDER BY position)) AS facts
    FROM device d);

UPDATE measurement SET device = (SELECT kept FROM device_twin WHERE key = measurement.device);
UPDATE ceiling SET device = (SELECT kept FROM device_twin WHERE key = ceiling.device);
DELETE FROM ceiling WHERE key NOT IN (
  SELECT max(key) FROM ceiling GROUP BY device, quantity, value, unit, origin, note);
DELETE FROM device_fact WHERE device IN (SELECT key FROM device_twin WHERE key <> kept);
DELETE FROM device WHERE key IN (SELECT key FROM device_twin WHERE key <> kept);
DROP TABLE device_twin;
