-- [make]
CREATE SEQUENCE turn MINVALUE 0 START 0;
SELECT setval('turn', 0) \g /dev/null
CREATE FUNCTION await_turn(wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    deadline timestamptz := clock_timestamp() + interval '30 s';
BEGIN
    WHILE (SELECT last_value FROM turn) < wanted LOOP
        IF clock_timestamp() > deadline THEN
            RAISE EXCEPTION 'the other session did not come to the end of step %', wanted USING ERRCODE = 'TT001';
        END IF;
        PERFORM pg_sleep(0.005);
    END LOOP;
END $$;
CREATE FUNCTION await_waiting() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    deadline timestamptz := clock_timestamp() + interval '30 s';
BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP
        IF clock_timestamp() > deadline THEN
            RAISE EXCEPTION 'the other session did not wait for the lock that this one holds';
        END IF;
        PERFORM pg_sleep(0.005);
    END LOOP;
END $$;
-- [again]
SELECT setval('turn', 0) \g /dev/null
