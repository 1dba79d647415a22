-- One row a trial of one run: where it stands, and its headline value where its numbers count. Of all with `every`, else
-- of those that run, and of those that are asked for.
SELECT
    placed.configuration, placed.column, trial.id AS trial_id, trial.block, trial.position, trial.state,
    trial.phase, trial.phase_at, trial.expected_s,
    coalesce(latest.number, 0) AS attempts,
    headline.value,
    CASE WHEN trial.state <> 'done' THEN trial.error END::json AS error,
    latest.started_at, latest.ended_at,
    CASE WHEN trial.state = 'running' THEN latest.notes -> 'look' END::json AS look
FROM (
    SELECT
        trial.id, configuration.index AS configuration,
        row_number() OVER (PARTITION BY configuration.index ORDER BY trial.block, trial.position) AS column
    FROM results_trial AS trial
    JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
    WHERE trial.run_id = %(run_id)s
) AS placed
JOIN results_trial AS trial ON trial.id = placed.id
JOIN results_run AS run ON run.id = trial.run_id
LEFT JOIN LATERAL (
    SELECT number, started_at, ended_at, notes FROM results_attempt
    WHERE trial_id = trial.id ORDER BY number DESC LIMIT 1
) AS latest ON true
LEFT JOIN LATERAL (
    SELECT value FROM results_measurement
    WHERE attempt_id = trial.attempt_id AND metric_id = run.headline AND label = '' AND trial.state = 'done'
    ORDER BY node LIMIT 1
) AS headline ON true
WHERE %(every)s OR trial.state = 'running' OR trial.id = ANY(%(trials)s::bigint[])
    OR (placed.configuration BETWEEN %(first)s AND %(last)s AND placed.column BETWEEN %(left)s AND %(right)s)
    OR trial.id IN (
        SELECT id FROM results_trial WHERE run_id = %(run_id)s AND state = 'failed' ORDER BY position LIMIT %(failed)s
    )
ORDER BY placed.configuration, placed.column
