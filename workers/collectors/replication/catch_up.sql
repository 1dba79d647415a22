-- Waits until all that this server sends to have replayed the WAL up to an LSN ('': what is written by now), and prints
-- as JSON when each was seen to have (`caught_up`: node → epoch seconds) and when all had been looked at once
-- (`asked_at`). Those that make no progress for a while are given up. psql's variables: lsn, nodes (whom it sends to),
-- patience_s, limit_s.
\pset tuples_only on
\pset format unaligned
SET application_name = 'teiten replication';
SELECT set_config('teiten.lsn', :'lsn', false), set_config('teiten.nodes', :'nodes', false),
       set_config('teiten.patience', :'patience_s', false), set_config('teiten.limit', :'limit_s', false),
       set_config('teiten.caught_up', '', false)
\g /dev/null
DO $do$ /* teiten */
DECLARE
    goal pg_lsn := coalesce(nullif(current_setting('teiten.lsn'), '')::pg_lsn, pg_current_wal_lsn());
    patience interval := current_setting('teiten.patience')::float8 * interval '1 second';
    deadline timestamptz := clock_timestamp() + current_setting('teiten.limit')::float8 * interval '1 second';
    behind text[] := string_to_array(current_setting('teiten.nodes'), ',');
    progress numeric;
    before numeric;
    since timestamptz := clock_timestamp();
    asked_at timestamptz;
    caught_up text := '';
    one text;
BEGIN
    WHILE cardinality(behind) > 0 LOOP
        FOR one IN SELECT application_name FROM pg_stat_replication
                   WHERE application_name = ANY (behind) AND replay_lsn >= goal LOOP
            behind := array_remove(behind, one);
            caught_up := caught_up || CASE WHEN caught_up = '' THEN '' ELSE ',' END
                || to_json(one) || ':' || extract(epoch FROM clock_timestamp());
        END LOOP;
        asked_at := coalesce(asked_at, clock_timestamp());
        SELECT sum(pg_wal_lsn_diff(replay_lsn, '0/0')) INTO progress FROM pg_stat_replication
        WHERE application_name = ANY (behind);
        IF progress IS DISTINCT FROM before THEN
            before := progress;
            since := clock_timestamp();
        END IF;
        EXIT WHEN clock_timestamp() - since > patience OR clock_timestamp() > deadline;
        COMMIT;  -- a snapshot held for long would itself delay the replay on a standby that sends on
        PERFORM pg_sleep(0.01);
    END LOOP;
    PERFORM set_config('teiten.caught_up', '{"asked_at":' || extract(epoch FROM asked_at)
        || ',"caught_up":{' || caught_up || '}}', false);
END
$do$;
SELECT /* teiten */ current_setting('teiten.caught_up');
