-- The databases that an earlier trial left, and the comment of each.
SELECT datname AS name, coalesce(shobj_description(oid, 'pg_database'), '') AS comment
  FROM pg_database
 WHERE NOT datistemplate AND datname <> 'postgres'
