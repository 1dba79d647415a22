-- One row a trial of one run: where it stands, and its headline value where its numbers count. Of all with `every`, else
-- of those that run, and of those that are asked for.
WITH chosen AS (
    SELECT id, configuration_id FROM results_trial WHERE run_id = %(run_id)s AND %(every)s
    UNION
    SELECT id, configuration_id FROM results_trial WHERE run_id = %(run_id)s AND state = 'running'
    UNION
    SELECT id, configuration_id FROM results_trial WHERE id = ANY(%(trials)s::bigint[]) AND run_id = %(run_id)s
    UNION
    (
        SELECT id, configuration_id FROM results_trial
        WHERE run_id = %(run_id)s AND state = 'failed' ORDER BY position LIMIT %(failed)s
    )
    UNION
    SELECT id, configuration_id FROM (
        SELECT
            trial.id, trial.configuration_id,
            row_number() OVER (PARTITION BY trial.configuration_id ORDER BY trial.block, trial.position) AS column
        FROM results_configuration AS configuration
        JOIN results_trial AS trial ON trial.configuration_id = configuration.id
        WHERE configuration.run_id = %(run_id)s AND configuration.index BETWEEN %(first)s AND %(last)s
    ) AS part WHERE part.column BETWEEN %(left)s AND %(right)s
)
SELECT
    configuration.index AS configuration, placed.column, trial.id AS trial_id, trial.block, trial.position, trial.state,
    trial.phase, trial.phase_at, trial.expected_s,
    coalesce(latest.number, 0) AS attempts,
    headline.value,
    CASE WHEN trial.state <> 'done' THEN trial.error END::json AS error,
    latest.started_at, latest.ended_at,
    CASE WHEN trial.state = 'running' THEN latest.notes -> 'look' END::json AS look
FROM chosen
JOIN (
    SELECT id, row_number() OVER (PARTITION BY configuration_id ORDER BY block, position) AS column
    FROM results_trial
    WHERE run_id = %(run_id)s AND configuration_id IN (SELECT configuration_id FROM chosen)
) AS placed ON placed.id = chosen.id
JOIN results_trial AS trial ON trial.id = chosen.id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
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
ORDER BY configuration.index, placed.column
