-- What a server says of one that streams from it.
SELECT state, sync_state, replay_lsn::text FROM pg_stat_replication WHERE application_name = :'node'
