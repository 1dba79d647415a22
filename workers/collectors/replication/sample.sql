-- One line of JSON a second: how far behind those are that this server sends to, and how old is what it replays itself.
-- nodes: the names of the arrangement's servers, as psql's variable.
\pset tuples_only on
\pset format unaligned
SET application_name = 'teiten replication';
-- The load's parallel workers are not for this, nor its compiler (there is neither before 9.6 and 11).
SELECT set_config(name, CASE name WHEN 'jit' THEN 'off' ELSE '0' END, false)
FROM pg_settings WHERE name IN ('max_parallel_workers_per_gather', 'jit')
\g /dev/null
SELECT /* teiten */ row_to_json(s) FROM (
    SELECT extract(epoch FROM clock_timestamp()) AS at,
           extract(epoch FROM pg_last_xact_replay_timestamp()) AS replayed_at,
           pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn() AS replayed_all,
           (SELECT jsonb_agg(behind) FROM (  -- of jsonb, which has no line ends
                SELECT application_name AS node, state, sync_state,
                       pg_wal_lsn_diff(own.lsn, sent_lsn) AS sent_bytes, pg_wal_lsn_diff(own.lsn, write_lsn) AS write_bytes,
                       pg_wal_lsn_diff(own.lsn, flush_lsn) AS flush_bytes,
                       pg_wal_lsn_diff(own.lsn, replay_lsn) AS replay_bytes,
                       extract(epoch FROM write_lag) AS write_s, extract(epoch FROM flush_lag) AS flush_s,
                       extract(epoch FROM replay_lag) AS replay_s
                FROM (SELECT CASE WHEN pg_is_in_recovery()
                                  THEN greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                                  ELSE pg_current_wal_lsn() END AS lsn) own,
                     pg_stat_replication
                WHERE application_name = ANY (string_to_array(:'nodes', ','))
            ) behind) AS standbys
) s
\watch 1
