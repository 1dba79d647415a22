-- One row a replicate that counts, in the order of time. build: as the server names itself, where it is asked for.
SELECT
    trial.configuration_id AS configuration, trial.run_id, trial.id AS trial_id, trial.attempt_id, trial.block,
    attempt.started_at AS at, attempt.environment, configuration.dimensions ->> 'version' AS version,
    CASE WHEN %(builds)s THEN (
        SELECT layer.content ->> 'full_version'
        FROM results_layeruse AS used
        JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'build'
        WHERE used.attempt_id = trial.attempt_id AND used.node = 'primary'
    ) END AS build,
    measurement.value
FROM results_trial AS trial
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
JOIN results_measurement AS measurement
    ON measurement.attempt_id = trial.attempt_id AND measurement.metric_id = %(metric)s
        AND measurement.node = %(node)s AND measurement.label = %(label)s
WHERE trial.configuration_id = ANY(%(configurations)s) AND trial.state = 'done'
ORDER BY attempt.started_at, trial.run_id, trial.position
