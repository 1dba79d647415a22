-- [toast: table]
CREATE TABLE documents (id int PRIMARY KEY, kind text NOT NULL, body text, bytes bytea);
-- [toast: fill]
INSERT INTO documents
SELECT i, 'alike', repeat(md5(i::text), 1000 * i), NULL FROM generate_series(1, 12) AS i
UNION ALL
SELECT 100 + i, 'random', (SELECT string_agg(md5(i || ':' || k), '' ORDER BY k) FROM generate_series(1, 800 * i) AS k),
       decode((SELECT string_agg(md5(i || '-' || k), '' ORDER BY k) FROM generate_series(1, 400 * i) AS k), 'hex')
  FROM generate_series(1, 12) AS i;
-- [toast: external]
ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;
INSERT INTO documents SELECT 200 + i, 'outside', repeat(md5(i::text), 1000 * i), NULL FROM generate_series(1, 6) AS i;
-- [toast: change]
UPDATE documents SET kind = kind || '!' WHERE id % 2 = 0;
UPDATE documents SET body = body || 'end' WHERE id % 3 = 0;
DELETE FROM documents WHERE id % 5 = 0;
VACUUM documents;
-- [toast: contents]
SELECT id || ' ' || kind || ' ' || length(body) || ' ' || md5(body) || ' ' || coalesce(md5(bytes), '') || ' ' ||
       substr(body, 10001, 20)
  FROM documents
-- [toast: whole]
SELECT body FROM documents WHERE id = 106;
-- [toast: where]
SELECT CASE WHEN reltoastrelid = 0 THEN 'without a TOAST table'
            ELSE 'with a TOAST table of ' || pg_table_size(reltoastrelid) || ' bytes' END
  FROM pg_class WHERE oid = 'documents'::regclass;
-- [fillfactor]
CREATE TABLE full_pages (id int, word text) WITH (fillfactor = 100);
CREATE TABLE half_pages (id int, word text) WITH (fillfactor = 50);
INSERT INTO full_pages SELECT i, md5(i::text) FROM generate_series(1, :many) AS i;
INSERT INTO half_pages SELECT i, md5(i::text) FROM generate_series(1, :many) AS i;
-- [fillfactor: sizes]
SELECT pg_table_size('full_pages') || ' ' || pg_table_size('half_pages');
-- [pgstattuple]
DELETE FROM items WHERE id % 4 = 0;
SELECT tuple_count FROM pgstattuple('items');
