-- From 14 on VACUUM spares the indexes where few rows are dead, and then their pages never become all-visible.
\if :has_index_cleanup
VACUUM (ANALYZE, INDEX_CLEANUP ON) pgbench_accounts;
\else
VACUUM ANALYZE pgbench_accounts;
\endif
