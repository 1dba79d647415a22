-- Publishes every ordinary table of this database. A table without a primary key is known by its whole rows.
DROP PUBLICATION IF EXISTS teiten;
CREATE TEMPORARY VIEW ordinary AS
SELECT c.oid, c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary) AS keyless
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema';
SELECT format('ALTER TABLE %s REPLICA IDENTITY FULL', oid::regclass) FROM ordinary WHERE keyless
\gexec
SELECT 'CREATE PUBLICATION teiten FOR TABLE ' || string_agg(oid::regclass::text, ', ') FROM ordinary
\gexec
