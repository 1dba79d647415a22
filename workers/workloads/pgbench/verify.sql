-- What the loaded data is, by index look-ups and the two small tables: no scan of the accounts.
SELECT (SELECT count(*) FROM pgbench_branches) AS branches,
       (SELECT max(tid) FROM pgbench_tellers) AS tellers,
       (SELECT max(aid) FROM pgbench_accounts) AS accounts,
       (SELECT count(*) FROM pg_inherits WHERE inhparent = 'pgbench_accounts'::regclass) AS partitions,
       (SELECT relpersistence = 'u' FROM pg_class WHERE oid = 'pgbench_branches'::regclass) AS unlogged
