-- One row a trial of one run: where it stands, and its headline value where its numbers count.
SELECT
    configuration.index AS configuration, trial.id AS trial_id, trial.block, trial.position, trial.state,
    trial.phase, trial.phase_at, trial.expected_s, trial.agents,
    coalesce(latest.number, 0) AS attempts,
    headline.value,
    CASE WHEN trial.state <> 'done' THEN trial.error END::json AS error,
    latest.started_at, latest.ended_at,
    CASE WHEN trial.state = 'running' THEN latest.notes -> 'look' END::json AS look
FROM results_trial AS trial
JOIN results_run AS run ON run.id = trial.run_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
LEFT JOIN LATERAL (
    SELECT number, started_at, ended_at, notes FROM results_attempt
    WHERE trial_id = trial.id ORDER BY number DESC LIMIT 1
) AS latest ON true
LEFT JOIN LATERAL (
    SELECT value FROM results_measurement
    WHERE attempt_id = trial.attempt_id AND metric_id = run.headline AND label = '' ORDER BY node LIMIT 1
) AS headline ON trial.state = 'done'
WHERE trial.run_id = %(run_id)s
ORDER BY configuration.index, trial.block, trial.position
