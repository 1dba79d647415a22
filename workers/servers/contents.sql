-- What is in every table of the database: one line a table with the number of its rows and, where :digest is on, a sum
-- over them that differs as soon as any row does.
SELECT format('SELECT %L, count(*), %s FROM %I.%I AS t', n.nspname || '.' || c.relname,
              CASE WHEN :'digest'::bool THEN 'coalesce(sum(hashtextextended(t::text, 0)), 0)' ELSE '''-''' END,
              n.nspname, c.relname)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND c.relpersistence <> 't'
   AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
 ORDER BY n.nspname, c.relname
\gexec
