VACUUM ANALYZE pgbench_branches;
VACUUM ANALYZE pgbench_tellers;
VACUUM ANALYZE pgbench_accounts;
TRUNCATE pgbench_history;
VACUUM ANALYZE pgbench_history;
