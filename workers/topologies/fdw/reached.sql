-- The server of every foreign table that answers; one that does not ends the script with its name.
SELECT format('SELECT %L FROM (SELECT FROM %s LIMIT 1) AS first RIGHT JOIN (SELECT 1) AS once ON true',
              s.srvname, f.ftrelid::regclass)
  FROM pg_foreign_table AS f
  JOIN pg_foreign_server AS s ON s.oid = f.ftserver
 ORDER BY 1
\gexec
