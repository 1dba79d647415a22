-- Values of the attempts whose numbers count, oldest first.
SELECT
    measurement.id, measurement.run_id, trial.id AS trial_id, measurement.attempt_id,
    configuration.index AS configuration, trial.block,
    metric.name AS metric, metric.unit, metric.better, measurement.node, measurement.label, measurement.value
FROM results_measurement AS measurement
JOIN results_trial AS trial ON trial.attempt_id = measurement.attempt_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_metric AS metric ON metric.name = measurement.metric_id
WHERE (%(ids)s::bigint[] IS NULL OR measurement.attempt_id = ANY(%(attempts)s) AND measurement.id = ANY(%(ids)s))
    AND measurement.attempt_id >= %(after_id)s / 1000000 AND measurement.id > %(after_id)s
    AND (%(run_id)s::bigint IS NULL OR measurement.run_id = %(run_id)s)
    AND (%(trial_id)s::bigint IS NULL OR trial.id = %(trial_id)s)
    AND (%(metric)s = '' OR measurement.metric_id = %(metric)s)
    AND (%(node)s::text IS NULL OR measurement.node = %(node)s)
ORDER BY measurement.attempt_id, measurement.id
LIMIT %(limit)s
