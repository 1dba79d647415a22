-- One row a (run, node, label): what the latest A/A run of the run's workload, on the same agents in the same roles, kept
-- of one metric. An A/A run that is excluded tells nothing. The agents of an imported run are others,
-- whatever they are called.
SELECT run.id AS run_id, aa_run.id AS aa_run_id, noise.node, noise.label,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY noise.spread) AS spread
FROM results_run AS run
CROSS JOIN LATERAL (
    SELECT spec -> 'agents' AS agents FROM results_configuration WHERE run_id = run.id LIMIT 1
) AS played
CROSS JOIN LATERAL (
    SELECT other.id
    FROM results_noise AS any_noise
    JOIN results_run AS other ON other.id = any_noise.run_id AND other.workload = run.workload
    JOIN results_configuration AS configuration ON configuration.id = any_noise.configuration_id
    WHERE any_noise.metric_id = %(metric)s AND other.standing <> 'excluded' AND NOT other.private
        AND NOT EXISTS (SELECT FROM results_runimport WHERE run_id IN (run.id, other.id))
        AND played.agents @> (configuration.spec -> 'agents')
    ORDER BY other.id DESC
    LIMIT 1
) AS aa_run
JOIN results_noise AS noise ON noise.run_id = aa_run.id AND noise.metric_id = %(metric)s
WHERE run.id = ANY(%(runs)s)
GROUP BY run.id, aa_run.id, noise.node, noise.label
