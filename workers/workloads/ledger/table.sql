-- A row for each transaction: which run of pgbench, which of its clients, which of that client's transactions.
\if :has_access_method
SET default_table_access_method = :'access_method';
\endif
CREATE TABLE ledger (
    start integer NOT NULL,
    client integer NOT NULL,
    number bigint NOT NULL,
    entered timestamptz NOT NULL DEFAULT clock_timestamp(),
    note char(84) NOT NULL DEFAULT '',
    PRIMARY KEY (start, client, number)
);
