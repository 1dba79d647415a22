-- The empty tables, made anew. :has_access_methods: whether this server lets tables be stored by one or another;
-- :choose: whether the plan names one; :baseline: whether a second wide table is stored as heap where the first is not.
SET client_min_messages = warning;
DROP TABLE IF EXISTS foo, grown, wide, wide_heap, pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers;
\set twin 0
\if :has_access_methods
\if :choose
SET default_table_access_method = :'access_method';
\endif
SELECT :'baseline' = '1' AND current_setting('default_table_access_method') <> 'heap' AS twin \gset
\endif
CREATE TABLE foo (id int, val1 text, val2 text, val3 text) WITH (fillfactor = :fillfactor);
CREATE TABLE grown (id int, val1 text, val2 text, val3 text);
CREATE TABLE wide (
    id int, val1 text, val2 text, val3 text, val4 text, val5 text, val6 text, val7 text, val8 text, val9 text,
    val10 text, val11 text, val12 text, val13 text, val14 text, val15 text, val16 text, val17 text, val18 text,
    val19 text, val20 text
);
\if :twin
SET default_table_access_method = heap;
CREATE TABLE wide_heap (LIKE wide);
\endif
