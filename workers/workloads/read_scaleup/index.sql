CREATE INDEX pgbench_accounts_aid_abalance ON pgbench_accounts (aid, abalance);
