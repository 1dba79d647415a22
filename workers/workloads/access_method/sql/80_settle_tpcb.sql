VACUUM pgbench_accounts, pgbench_branches, pgbench_tellers;
ANALYZE pgbench_accounts, pgbench_branches, pgbench_tellers;
