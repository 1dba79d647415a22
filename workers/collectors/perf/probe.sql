-- Keeps one backend busy for a third of a second, by the clock and not by an amount of work: perf must see something.
SET application_name = 'teiten probe';
WITH RECURSIVE spin AS (
    SELECT clock_timestamp() AS began, 0 AS turn
    UNION ALL
    SELECT began, turn + 1 FROM spin WHERE clock_timestamp() < began + interval '0.33 second'
)
SELECT /* teiten */ count(*) FROM spin;
