-- Commits wait for nobody, and no slot keeps WAL: how many slots are still held by a sender that was told to end.
ALTER SYSTEM RESET ALL;
SELECT pg_reload_conf() \g /dev/null
SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active_pid IS NOT NULL \g /dev/null
SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE active_pid IS NULL \g /dev/null
SELECT count(*) FROM pg_replication_slots;
