-- [partitions]
CREATE TABLE measured (id int NOT NULL, part int NOT NULL, word text NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (200);
CREATE TABLE measured_2 PARTITION OF measured FOR VALUES FROM (200) TO (400);
CREATE TABLE measured_3 PARTITION OF measured FOR VALUES FROM (400) TO (MAXVALUE);
INSERT INTO measured SELECT i, i % 10, md5(i::text) FROM generate_series(1, :rows) AS i;
-- [partitions: one]
SELECT t::text FROM measured AS t WHERE id BETWEEN 210 AND 290
-- [partitions: move]
UPDATE measured SET id = id + 1000000 WHERE id BETWEEN 150 AND 160;
-- [partitions: no place]
INSERT INTO measured VALUES (-1, 0, 'nowhere');
-- [partitions: detach]
ALTER TABLE measured DETACH PARTITION measured_1;
-- [partitions: attach]
ALTER TABLE measured ATTACH PARTITION measured_1 FOR VALUES FROM (0) TO (200);
-- [parallel: settings]
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET parallel_leader_participation = off;
-- [parallel: of the table]
ALTER TABLE items SET (parallel_workers = 2);
-- [parallel: forced]
SET debug_parallel_query = on;
-- [parallel: forced before 16]
SET force_parallel_mode = on;
-- [parallel: more rows]
INSERT INTO items SELECT i, i % 10, md5(i::text) FROM generate_series(:rows + 1, :rows * 10) AS i;
ANALYZE items;
-- [parallel: rows]
SELECT t::text FROM items AS t WHERE part = 3
-- [parallel: sum]
SELECT part || ' ' || count(*) || ' ' || sum(id) FROM items GROUP BY part
