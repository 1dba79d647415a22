-- What the loaded data is, by index look-ups and the two small tables: no scan of the accounts.
SELECT (SELECT count(*) FROM pgbench_branches) AS branches,
       (SELECT max(tid) FROM pgbench_tellers) AS tellers,
       (SELECT max(aid) FROM pgbench_accounts) AS accounts,
       (SELECT count(*)
          FROM pg_inherits
          JOIN pg_class ON pg_class.oid = inhrelid
         WHERE inhparent = 'pgbench_accounts'::regclass AND relkind <> 'f') AS partitions,  -- foreign: a topology's
       (SELECT relpersistence = 'u' FROM pg_class WHERE oid = 'pgbench_branches'::regclass) AS unlogged,
       coalesce((SELECT option_value::integer
                   FROM pg_class, pg_options_to_table(reloptions)
                  WHERE pg_class.oid = 'pgbench_accounts'::regclass AND option_name = 'fillfactor'), 100) AS fillfactor
