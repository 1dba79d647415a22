-- Every user table with its indexes and out-of-line storage, partitions counted to the table they are part of.
-- pg_table_size, because an access method may keep more than the main fork.
WITH RECURSIVE part AS (
    SELECT oid AS root, oid FROM pg_class
    WHERE relkind IN ('r', 'm', 'p') AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = pg_class.oid)
    UNION ALL
    SELECT part.root, inhrelid FROM part JOIN pg_inherits ON inhparent = part.oid
)
SELECT /* teiten */ CASE WHEN nspname = 'public' THEN relname ELSE nspname || '.' || relname END AS name,
       sum(pg_table_size(part.oid))::bigint AS table_bytes,
       sum(pg_indexes_size(part.oid))::bigint AS index_bytes
FROM part JOIN pg_class ON pg_class.oid = part.root JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND nspname NOT LIKE 'pg_toast%'
  AND nspname NOT LIKE 'pg_temp%'
GROUP BY nspname, relname
