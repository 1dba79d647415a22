-- One row a value of a metric that counts, whatever its node and label, in the order of time.
SELECT
    trial.configuration_id AS configuration, trial.run_id, trial.id AS trial_id, trial.attempt_id, trial.block,
    attempt.started_at AS at, measurement.node, measurement.label, measurement.value
FROM results_trial AS trial
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
JOIN results_measurement AS measurement
    ON measurement.attempt_id = trial.attempt_id AND measurement.metric_id = %(metric)s
WHERE trial.configuration_id = ANY(%(configurations)s) AND trial.state = 'done'
ORDER BY attempt.started_at, trial.run_id, trial.position
