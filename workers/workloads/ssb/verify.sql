-- What the load said of its tables, and their indexes: from the catalogue alone, so that caches stay as they are.
SELECT c.relname AS name,
       obj_description(c.oid, 'pg_class') AS loaded,
       (SELECT count(*) FROM pg_index AS i WHERE i.indrelid = c.oid AND i.indisvalid) AS indexes
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
   AND c.relname IN ('customer', 'supplier', 'part', 'date', 'lineorder')
