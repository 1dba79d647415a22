-- What values are of, in the order of metric, node and label.
SELECT
    measure.id, measure.node, measure.label,
    metric.name AS metric, metric.unit, metric.label AS label_of_metric, metric.better, metric.help,
    metric.minimum_effect, metric.whole, metric.client_overhead
FROM results_measure AS measure
JOIN results_metric AS metric ON metric.name = measure.metric_id
WHERE measure.id = ANY(%(measures)s::int[])
ORDER BY metric.name, measure.node, measure.label
