-- Both as the VACUUM just before has counted them.
SELECT relpages AS pages, relallvisible AS all_visible
  FROM pg_class
 WHERE oid = 'pgbench_accounts'::regclass
