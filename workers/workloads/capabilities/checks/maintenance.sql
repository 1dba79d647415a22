-- [index]
CREATE INDEX items_id ON items (id);
-- [vacuum: halve]
DELETE FROM items WHERE id % 2 = 1;
VACUUM items;
-- [vacuum: refill]
INSERT INTO items SELECT i, i % 10, md5(i::text) FROM generate_series(1, :rows, 2) AS i;
VACUUM (FREEZE) items;
-- [size]
SELECT pg_table_size('items');
-- [some]
SELECT t::text FROM items AS t WHERE id BETWEEN 100 AND 300
-- [vacuum full]
DELETE FROM items WHERE id % 5 <> 0;
VACUUM FULL items;
-- [analyze]
ANALYZE items;
-- [analyze: rows]
SELECT reltuples FROM pg_class WHERE oid = 'items'::regclass;
-- [analyze: columns]
SELECT attname || ' ' || null_frac || ' ' ||
       CASE WHEN n_distinct < 0 THEN round((-n_distinct * :rows)::numeric) ELSE n_distinct::numeric END
  FROM pg_stats WHERE tablename = 'items'
-- [cluster]
UPDATE items SET part = part + 1 WHERE id % 3 = 0;
CREATE INDEX items_word ON items (word COLLATE "C");
CLUSTER items USING items_word;
-- [words]
SELECT word FROM items
-- [reindex: prepare]
CREATE INDEX items_word ON items (word);
UPDATE items SET word = md5(word) WHERE id % 4 = 0;
DELETE FROM items WHERE id % 6 = 0;
-- [reindex]
REINDEX TABLE items;
-- [reindex: file]
SELECT pg_relation_filenode('items_id');
-- [reindex: at once]
REINDEX TABLE CONCURRENTLY items;
-- [truncate: taken back]
BEGIN;
TRUNCATE items;
SELECT count(*) FROM items;
INSERT INTO items VALUES (0, 0, 'not for long');
ROLLBACK;
-- [truncate]
TRUNCATE items;
-- [truncate: refill]
INSERT INTO items SELECT i, i % 10, md5(i::text) FROM generate_series(1, :rows) AS i;
