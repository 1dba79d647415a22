-- Whether a subscriber has applied all up to an LSN, as the primary knows; and how far it is.
SELECT coalesce(replay_lsn >= :'lsn'::pg_lsn AND state = 'streaming', false) AS applied, state, replay_lsn
  FROM pg_stat_replication
 WHERE application_name = :'node'
