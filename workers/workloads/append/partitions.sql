-- Partitions of :step seconds from now on, for :seconds seconds. Earlier ones go, with their rows: nothing else is in
-- the table. Each statement is a transaction of its own, so that no number of partitions exceeds the lock table.
SET timezone = 'UTC';
SET synchronous_commit = off;
\if :has_access_method
SET default_table_access_method = :'access_method';
\endif
SELECT format('DROP TABLE %s', inhrelid::regclass)
  FROM pg_inherits
 WHERE inhparent = 'append_rows'::regclass
\gexec
SELECT format('CREATE TABLE append_rows_%s PARTITION OF append_rows FOR VALUES FROM (%L) TO (%L)',
              to_char(beginning, 'YYYYMMDD_HH24MISS'), beginning, beginning + make_interval(secs => :'step'))
  FROM generate_series(
           to_timestamp(floor(extract(epoch FROM now()) / :'step'::integer) * :'step'::integer),
           now() + make_interval(secs => :'seconds'),
           make_interval(secs => :'step')) AS beginning
\gexec
