-- The tables to share out: at least so many rows, told apart by one whole number. Names are quoted as SQL wants them.
SELECT c.oid::regclass::text AS name, n.nspname AS schema, c.relname AS relation, quote_ident(a.attname) AS key,
       quote_literal(quote_ident(n.nspname) || '.teiten_shared') AS parent,
       coalesce((SELECT string_agg(conname, ', ')
                   FROM pg_constraint
                  WHERE contype = 'f' AND c.oid IN (conrelid, confrelid)), '') AS foreign_keys
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
 WHERE c.relkind = 'r' AND NOT c.relispartition AND c.relpersistence <> 't'
   AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
   AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
   AND c.reltuples >= :'least_rows'::float
 ORDER BY name
