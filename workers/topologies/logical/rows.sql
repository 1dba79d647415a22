-- NAME|ROWS of every ordinary table.
SELECT format('SELECT %L, count(*) FROM %s', c.oid::regclass, c.oid::regclass)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
 ORDER BY 1
\gexec
