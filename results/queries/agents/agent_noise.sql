-- One row a (workload, metric, node, label): over the configurations of the agent's latest A/A run of the workload that is
-- not excluded.
WITH here AS (
    SELECT noise.*
    FROM results_noise AS noise
    WHERE EXISTS (
        SELECT FROM results_trial AS trial JOIN results_agent AS agent ON trial.agents @> ARRAY[agent.id]
        WHERE agent.name = %(agent)s AND trial.configuration_id = noise.configuration_id
    )
), latest AS (
    SELECT run.workload, max(run.id) AS run_id
    FROM here JOIN results_run AS run ON run.id = here.run_id
    WHERE run.standing <> 'excluded' AND NOT run.private
    GROUP BY run.workload
)
SELECT
    run.id AS run_id, run.workload, run.ended_at,
    metric.name AS metric, metric.label AS title, metric.better <> 'neither' AS directed, here.node, here.label,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY here.spread) AS spread, max(here.spread) AS largest,
    count(*) AS configurations, min(here.replicates) AS replicates, metric.minimum_effect
FROM latest
JOIN results_run AS run ON run.id = latest.run_id
JOIN here ON here.run_id = run.id
JOIN results_metric AS metric ON metric.name = here.metric_id
GROUP BY run.id, metric.name, here.node, here.label
ORDER BY run.workload, metric.name <> run.headline, metric.name, here.label, here.node
