-- Everything cumulative that this server counts, as one JSON text. No version's columns are named: a view is taken
-- whole, where it exists. psql variables: names of the functions that differ between versions (see collect.py).
\pset tuples_only on
\pset format unaligned
SET application_name = 'teiten snapshot';
SET teiten.views = '';
DO $do$ /* teiten */
DECLARE
    began timestamptz := clock_timestamp();
    one record;
    content text;
    views text := '';
BEGIN
    -- Backends hand in their last counts when they end, which can be a moment after their client has gone.
    WHILE clock_timestamp() < began + interval '0.25 second' AND EXISTS (
        SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IS NOT NULL
          AND application_name NOT LIKE 'teiten%' AND query NOT LIKE 'autovacuum:%')
    LOOP
        PERFORM pg_sleep(0.005);
        PERFORM pg_stat_clear_snapshot();
    END LOOP;
    -- Before 15 the counts may be half a second old: ask until they are younger than this script.
    IF current_setting('server_version_num')::int < 150000 THEN
        PERFORM pg_stat_clear_snapshot();
        WHILE clock_timestamp() < began + interval '2 seconds' AND pg_stat_get_snapshot_timestamp() < began LOOP
            PERFORM pg_sleep(0.02);
            PERFORM pg_stat_clear_snapshot();
        END LOOP;
    END IF;
    FOR one IN
        SELECT relname AS name, format('SELECT * FROM pg_catalog.%I', relname)
               || CASE WHEN relname = 'pg_stat_database' THEN ' WHERE datname = current_database()' ELSE '' END AS query
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = 'pg_catalog'
          AND relname IN ('pg_stat_database', 'pg_stat_bgwriter', 'pg_stat_checkpointer', 'pg_stat_wal', 'pg_stat_io')
        UNION ALL
        SELECT 'pg_stat_statements', format(
            'SELECT * FROM %I.pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database '
            'WHERE datname = current_database()) ORDER BY calls DESC LIMIT 500', nspname)
        FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
        WHERE extname = 'pg_stat_statements' AND current_setting('shared_preload_libraries') LIKE '%pg_stat_statements%'
    LOOP
        EXECUTE format('SELECT json_agg(v) FROM (%s) v', one.query) INTO content;
        views := views || CASE WHEN views = '' THEN '' ELSE ',' END
            || to_json(one.name::text) || ':' || coalesce(content, '[]');
    END LOOP;
    -- a DO block returns nothing, and a standby has no temporary tables: a setting of the session carries it out
    PERFORM set_config('teiten.views', '{' || views || '}', false);
END
$do$;
SELECT /* teiten */ json_build_object(
    'at', extract(epoch FROM clock_timestamp()),
    'version_num', current_setting('server_version_num')::int,
    'block_size', current_setting('block_size')::int,
    'postmaster_started', extract(epoch FROM pg_postmaster_start_time()),
    'wal_bytes', :difference(CASE WHEN pg_is_in_recovery() THEN :replayed() ELSE :current() END, '0/0'),
    'views', current_setting('teiten.views')::json);
