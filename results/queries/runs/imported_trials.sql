-- One row a trial of an import, by its place: the files that it was read of, what they state, and its headline value.
SELECT
    trial.id, trial.position, configuration.name AS configuration, attempt.notes -> 'imported' ->> 'source' AS source,
    ARRAY(SELECT file ->> 'path' FROM jsonb_array_elements(attempt.files) AS file) AS files,
    (attempt.notes -> 'imported' -> 'facts')::json AS facts, coalesce(metric.unit, '') AS unit,
    (
        SELECT value FROM results_measurement
        WHERE attempt_id = attempt.id AND metric_id = run.headline AND label = '' ORDER BY node LIMIT 1
    ) AS value
FROM results_trial AS trial
JOIN results_run AS run ON run.id = trial.run_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
LEFT JOIN results_metric AS metric ON metric.name = run.headline
WHERE trial.run_id = %(run_id)s AND trial.position > %(after)s
ORDER BY trial.position
LIMIT %(limit)s
