-- One row a metric that counted trials of the runs have. Trials of one kind have the same list of measures, so each list
-- is taken apart once, if one trial counts that has it.
WITH lists AS (
    SELECT DISTINCT stored.measures FROM results_attemptvalues AS stored WHERE stored.run_id = ANY(%(runs)s::bigint[])
),
counted AS (
    SELECT lists.measures
    FROM lists
    CROSS JOIN LATERAL (
        SELECT
        FROM results_attemptvalues AS stored
        JOIN results_trial AS trial ON trial.attempt_id = stored.attempt_id AND trial.state = 'done'
        WHERE stored.run_id = ANY(%(runs)s::bigint[]) AND stored.measures = lists.measures
        LIMIT 1
    ) AS one
)
SELECT metric.name, metric.unit, metric.better, metric.label, metric.help, metric.minimum_effect, metric.parts,
    metric.whole, metric.client_overhead, metric.label_noun,
    array_agg(DISTINCT measure.node) AS nodes, array_agg(DISTINCT measure.label) AS labels,
    (SELECT count(*) FROM results_run WHERE id = ANY(%(runs)s) AND headline = metric.name) AS headlines
FROM (SELECT DISTINCT unnest(measures) AS id FROM counted) AS present
JOIN results_measure AS measure ON measure.id = present.id
JOIN results_metric AS metric ON metric.name = measure.metric_id
GROUP BY metric.name
ORDER BY headlines DESC, metric.name
