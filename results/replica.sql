-- Whether this server is a standby that receives WAL, up to where it has replayed it, and how far behind it is.
-- pg_last_xact_replay_timestamp() alone grows on a warehouse where nothing happens.
SELECT
    pg_is_in_recovery() AS is_standby,
    EXISTS (SELECT FROM pg_stat_wal_receiver) AS receives,
    coalesce(pg_last_wal_replay_lsn(), '0/0')::text AS replayed,
    CASE
        WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
        ELSE coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()), 0)
    END::double precision AS lag_s
