-- One row a metric that counted trials of the runs have. Trials of one kind have the same list of measures, so each list
-- is taken apart once.
WITH lists AS (
    SELECT DISTINCT stored.measures
    FROM results_trial AS trial
    JOIN results_attemptvalues AS stored ON stored.attempt_id = trial.attempt_id AND stored.run_id = trial.run_id
    WHERE trial.run_id = ANY(%(runs)s::bigint[]) AND trial.state = 'done'
)
SELECT metric.name, metric.unit, metric.better, metric.label, metric.help, metric.minimum_effect, metric.parts,
    metric.whole, metric.client_overhead, metric.label_noun,
    array_agg(DISTINCT measure.node) AS nodes, array_agg(DISTINCT measure.label) AS labels,
    (SELECT count(*) FROM results_run WHERE id = ANY(%(runs)s) AND headline = metric.name) AS headlines
FROM (SELECT DISTINCT unnest(measures) AS id FROM lists) AS present
JOIN results_measure AS measure ON measure.id = present.id
JOIN results_metric AS metric ON metric.name = measure.metric_id
GROUP BY metric.name
ORDER BY headlines DESC, metric.name
