-- One row a (configuration, metric, node, label) of one run, over the trials whose numbers count, after one of them.
SELECT
    configuration.id AS configuration_id, configuration.index AS configuration, configuration.name,
    coalesce((
        SELECT json_object_agg(factor ->> 'name', configuration.levels ->> (factor ->> 'name') ORDER BY place)
        FROM jsonb_array_elements(run.factors) WITH ORDINALITY AS listed (factor, place)
    ), '{}') AS levels,
    metric.name AS metric, metric.unit, summary.node, summary.label,
    summary.median, summary.minimum, summary.maximum, summary.n, summary.values, summary.trial_ids
FROM results_run AS run
JOIN results_configuration AS configuration ON configuration.run_id = run.id
CROSS JOIN LATERAL (
    SELECT
        measurement.metric_id, measurement.node, measurement.label,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY measurement.value) AS median,
        min(measurement.value) AS minimum,
        max(measurement.value) AS maximum,
        count(*) AS n,
        array_agg(measurement.value ORDER BY trial.block, trial.position) AS values,
        array_agg(trial.id ORDER BY trial.block, trial.position) AS trial_ids
    FROM results_trial AS trial
    JOIN results_measurement AS measurement ON measurement.attempt_id = trial.attempt_id
    WHERE trial.configuration_id = configuration.id AND trial.state = 'done'
        AND (%(metrics)s::text[] = '{}' OR measurement.metric_id = ANY(%(metrics)s))
    GROUP BY measurement.metric_id, measurement.node, measurement.label
) AS summary
JOIN results_metric AS metric ON metric.name = summary.metric_id
WHERE run.id = %(run_id)s AND configuration.index >= %(configuration)s
    AND (configuration.index, metric.name, summary.node, summary.label)
        > (%(configuration)s, %(metric)s::text, %(node)s::text, %(label)s::text)
ORDER BY configuration.index, metric.name, summary.node, summary.label
LIMIT %(limit)s
