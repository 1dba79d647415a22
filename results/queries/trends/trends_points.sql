-- One row a replicate that counts, those of the newest runs first, and so many at most. build: as the server names
-- itself, where it is asked for. key: as of a Family.
SELECT
    configuration.family || ' ' || coalesce(nullif(source.address, ''), 'of run ' || source.run_id, 'this') AS key,
    trial.run_id, trial.id AS trial_id, trial.attempt_id, trial.block, trial.position,
    attempt.started_at AS at, attempt.environment, configuration.dimensions ->> 'version' AS version,
    CASE WHEN %(builds)s THEN (
        SELECT layer.content ->> 'full_version'
        FROM results_environmentlayer AS used
        JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'build'
        WHERE used.environment = attempt.environment AND used.node = 'primary'
    ) END AS build,
    measurement.value
FROM results_configuration AS configuration
LEFT JOIN results_runimport AS source ON source.run_id = configuration.run_id
JOIN results_trial AS trial ON trial.configuration_id = configuration.id AND trial.state = 'done'
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
JOIN results_measurement AS measurement
    ON measurement.attempt_id = trial.attempt_id AND measurement.metric_id = %(metric)s
        AND measurement.node = %(node)s AND measurement.label = %(label)s
WHERE configuration.family = ANY(%(families)s::uuid[]) AND configuration.run_id = ANY(%(runs)s::bigint[])
    AND configuration.family || ' ' || coalesce(nullif(source.address, ''), 'of run ' || source.run_id, 'this')
        = ANY(%(keys)s)
ORDER BY configuration.run_id DESC
LIMIT %(most)s
