-- Makes a standby a primary, and says when it left recovery: polled in one session, as the server tells it to nobody.
SET statement_timeout = '10min';
SELECT 'promotion ' || extract(epoch FROM clock_timestamp());
SELECT pg_promote(false) \g /dev/null
DO $$
BEGIN
    WHILE pg_is_in_recovery() LOOP
        PERFORM pg_sleep(0.002);
    END LOOP;
END
$$;
SELECT 'promoted ' || extract(epoch FROM clock_timestamp());
