-- The half-width that a cell's interval was to have, until now only a setting of its processes, so that whether it was
-- reached is told from the cell's own interval. The doubts that each process raised about that go: they are derived now.

ALTER TABLE measurement ADD COLUMN target REAL;

UPDATE measurement SET target = (
  SELECT CAST(effective AS REAL) FROM setting
   WHERE measurement = measurement.key AND name = 'run.target' AND CAST(effective AS REAL) > 0 ORDER BY key LIMIT 1);

DELETE FROM diagnostic
 WHERE id = 'precision_not_reached' AND measurement IN (SELECT key FROM measurement WHERE target IS NOT NULL);
