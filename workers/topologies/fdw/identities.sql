-- What tells each database from every other that was ever made: the cluster, and the database in it.
SELECT datname AS name, concat(system_identifier, '.', d.oid) AS identity
  FROM pg_database AS d
 CROSS JOIN pg_control_system()
