\set naccounts 100000 * :scale
\set aid_max :naccounts - :row_count
\set aid random(1, :aid_max)
\set aid_last :aid + :row_count
SELECT count(abalance) FROM pgbench_accounts WHERE aid BETWEEN :aid AND :aid_last;
