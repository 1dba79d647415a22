-- One line of JSON a second: what can be had without reading tables. psql variables as in collect.py.
\pset tuples_only on
\pset format unaligned
SET application_name = 'teiten sampler';
SELECT /* teiten */ row_to_json(s) FROM (
    SELECT extract(epoch FROM clock_timestamp()) AS at,
           xact_commit, xact_rollback, blks_read, blks_hit, tup_returned, tup_fetched,
           tup_inserted, tup_updated, tup_deleted, temp_bytes, deadlocks,
           :difference(CASE WHEN pg_is_in_recovery() THEN :replayed() ELSE :current() END, '0/0') AS wal_bytes,
           active, waiting
    FROM pg_stat_database,
         (SELECT count(*) AS active, count(CASE WHEN :waiting THEN 1 END) AS waiting
          FROM pg_stat_activity
          WHERE state = 'active' AND pid <> pg_backend_pid() AND application_name NOT LIKE 'teiten%') activity
    WHERE datname = current_database()
) s
\watch 1
