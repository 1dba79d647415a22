-- The tables that are shared out, and the foreign table of each on each server.
SELECT t.partrelid::regclass::text AS name, quote_ident(a.attname) AS key, s.srvname AS server,
       f.ftrelid::regclass::text AS part
  FROM pg_foreign_table AS f
  JOIN pg_foreign_server AS s ON s.oid = f.ftserver
  JOIN pg_inherits AS i ON i.inhrelid = f.ftrelid
  JOIN pg_partitioned_table AS t ON t.partrelid = i.inhparent
  JOIN pg_attribute AS a ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0]
 ORDER BY name, server
