-- The databases that an earlier trial left, and what is said of each.
SELECT datname AS name, coalesce(shobj_description(oid, 'pg_database'), '') AS said
  FROM pg_database
 WHERE NOT datistemplate AND datname <> 'postgres'
