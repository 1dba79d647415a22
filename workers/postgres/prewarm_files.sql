-- The first file of every user table and index, relative to the data directory.
SELECT pg_relation_filepath(c.oid)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'm', 'i', 't')
   AND (n.nspname = 'pg_toast' AND c.oid >= 16384
        OR n.nspname !~ '^pg_' AND n.nspname <> 'information_schema')
 ORDER BY c.relpages DESC;
