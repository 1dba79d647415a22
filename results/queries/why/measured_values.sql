-- Every number that the trials of the runs measured: of each metric, node and label one row, with its attempts.
SELECT
    metric.name AS metric, metric.unit, metric.label AS label_of_metric, metric.better, metric.help,
    metric.minimum_effect, metric.whole, metric.client_overhead,
    measured.node, measured.label, measured.attempts, measured.values
FROM (
    SELECT
        measurement.metric_id, measurement.node, measurement.label,
        array_agg(measurement.attempt_id) AS attempts, array_agg(measurement.value) AS values
    FROM results_measurement AS measurement
    WHERE measurement.run_id = ANY(%(runs)s)
        AND measurement.value > '-infinity' AND measurement.value < 'infinity'  -- which NaN is not
    GROUP BY measurement.metric_id, measurement.node, measurement.label
) AS measured
JOIN results_metric AS metric ON metric.name = measured.metric_id
ORDER BY metric.name, measured.node, measured.label
