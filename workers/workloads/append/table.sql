-- A row is as wide as one of pgbench_accounts. Its partitions are made for each trial (partitions.sql).
CREATE TABLE append_rows (
    at timestamptz NOT NULL,
    source integer NOT NULL,
    number integer NOT NULL,
    value integer NOT NULL,
    note char(84) NOT NULL DEFAULT ''
) PARTITION BY RANGE (at);
