-- One line of JSON a second: what can be had without reading tables. psql variables as in collect.py.
\pset tuples_only on
\pset format unaligned
SET application_name = 'teiten sampler';
-- The load's parallel workers are not for this, nor its compiler (there is neither before 9.6 and 11).
SELECT set_config(name, CASE name WHEN 'jit' THEN 'off' ELSE '0' END, false)
FROM pg_settings WHERE name IN ('max_parallel_workers_per_gather', 'jit')
\g /dev/null
WITH activity AS (
    SELECT state = 'active' AS active, :waiting AS waiting, :client AS of_client, :wait AS wait
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND application_name NOT LIKE 'teiten%'
)
SELECT /* teiten */ row_to_json(s) FROM (
    SELECT extract(epoch FROM clock_timestamp()) AS at,
           xact_commit, xact_rollback, blks_read, blks_hit, tup_returned, tup_fetched,
           tup_inserted, tup_updated, tup_deleted, temp_bytes, deadlocks,
           :difference(CASE WHEN pg_is_in_recovery() THEN :replayed() ELSE :current() END, '0/0') AS wal_bytes,
           (SELECT count(CASE WHEN active THEN 1 END) FROM activity) AS active,
           (SELECT count(CASE WHEN active AND waiting THEN 1 END) FROM activity) AS waiting,
           (SELECT json_object_agg(wait, backends)
            FROM (SELECT wait, count(*) AS backends FROM activity WHERE of_client GROUP BY wait) each_wait) AS waits
    FROM pg_stat_database
    WHERE datname = current_database()
) s
\watch 1
