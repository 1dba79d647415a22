-- One row a metric that counted trials of the runs have. The index is asked for one (metric, node, label) after the
-- other, so that it costs as much as there are of them, not as there are trials.
WITH RECURSIVE present AS (
    SELECT first.run_id, first.metric_id, first.node, first.label
    FROM unnest(%(runs)s::bigint[]) AS run (id)
    CROSS JOIN LATERAL (
        SELECT run_id, metric_id, node, label FROM results_measurement
        WHERE run_id = run.id ORDER BY metric_id, node, label LIMIT 1
    ) AS first
    UNION ALL
    SELECT next.run_id, next.metric_id, next.node, next.label
    FROM present
    CROSS JOIN LATERAL (
        SELECT run_id, metric_id, node, label FROM results_measurement
        WHERE run_id = present.run_id
            AND (metric_id, node, label) > (present.metric_id, present.node, present.label)
        ORDER BY metric_id, node, label LIMIT 1
    ) AS next
)
SELECT metric.name, metric.unit, metric.better, metric.label, metric.help, metric.minimum_effect, metric.parts,
    metric.whole, metric.client_overhead, metric.label_noun,
    array_agg(DISTINCT present.node) AS nodes, array_agg(DISTINCT present.label) AS labels,
    (SELECT count(*) FROM results_run WHERE id = ANY(%(runs)s) AND headline = metric.name) AS headlines
FROM present
JOIN results_metric AS metric ON metric.name = present.metric_id
WHERE EXISTS (
    SELECT FROM results_measurement AS measurement
    JOIN results_trial AS trial ON trial.attempt_id = measurement.attempt_id AND trial.state = 'done'
    WHERE measurement.run_id = present.run_id AND measurement.metric_id = present.metric_id
        AND measurement.node = present.node AND measurement.label = present.label
)
GROUP BY metric.name
ORDER BY headlines DESC, metric.name
