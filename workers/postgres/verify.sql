SELECT
    pg_is_in_recovery() AS standby,
    current_setting('server_version_num') AS version_num,
    (SELECT json_agg(s)
       FROM (SELECT name, setting, unit, source, boot_val AS boot FROM pg_settings) AS s) AS settings,
    (SELECT coalesce(json_agg(t ORDER BY name), '[]')
       FROM (SELECT c.oid::regclass::text AS name, a.amname AS am
               FROM pg_class AS c /* access methods */
               JOIN pg_namespace AS n ON n.oid = c.relnamespace
              WHERE c.relkind IN ('r', 'm')
                AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema') AS t) AS tables,
    (SELECT coalesce(json_agg(query), '[]')
       FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'autovacuum:%') AS busy
