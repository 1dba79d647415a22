-- Every ordinary table: whether it is published, and whether it has no key by which a subscriber could find a row.
SELECT c.oid::regclass::text AS name, p.oid IS NOT NULL AS published, c.relreplident = 'f' AS whole_rows
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_publication_rel AS r ON r.prrelid = c.oid
  LEFT JOIN pg_publication AS p ON p.oid = r.prpubid AND p.pubname = 'teiten'
 WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
 ORDER BY name
