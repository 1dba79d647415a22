-- How many runs go on, those apart whose trials all wait.
SELECT
    count(*) FILTER (WHERE begun OR NOT waits) AS running,
    count(*) FILTER (WHERE waits AND NOT begun) AS waiting
FROM (
    SELECT
        EXISTS (SELECT FROM results_trial WHERE run_id = run.id AND state = 'waiting') AS waits,
        EXISTS (SELECT FROM results_trial WHERE run_id = run.id AND state <> 'waiting') AS begun
    FROM results_run AS run
    WHERE run.state = 'running'
) AS going
