-- Drops Teiten's slots but those of :'kept' (names with commas between). Who streams by one of them is ended first: a
-- standby that an earlier trial left on another agent. It may come back at once, and then again after a while.
SET statement_timeout = '1min';
SELECT set_config('teiten.kept', :'kept', false) \g /dev/null
DO $do$
DECLARE
    one text;
BEGIN
    FOR one IN SELECT slot_name FROM pg_replication_slots
               WHERE slot_name LIKE 'teiten\_%'
                 AND slot_name <> ALL (string_to_array(current_setting('teiten.kept'), ',')) LOOP
        LOOP
            BEGIN
                PERFORM pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = one;
                PERFORM pg_drop_replication_slot(one);
                EXIT;
            EXCEPTION WHEN object_in_use THEN
                PERFORM pg_sleep(0.02);
            END;
        END LOOP;
    END LOOP;
END
$do$;
