-- One row a (dimension, value) of the runs' configurations: how many configurations and trials have it.
SELECT
    dimension.key AS name, dimension.value AS text,
    count(*) AS configurations, sum(counted.trials)::bigint AS trials,
    EXISTS (
        SELECT FROM results_run AS run, jsonb_array_elements(run.factors) AS factor
        WHERE run.id = ANY(%(runs)s) AND factor ->> 'name' = dimension.key
    ) AS factor
FROM configuration
CROSS JOIN LATERAL (
    SELECT count(*) AS trials FROM results_trial WHERE configuration_id = configuration.id
) AS counted
CROSS JOIN LATERAL jsonb_each_text(configuration.dimensions) AS dimension
GROUP BY dimension.key, dimension.value
ORDER BY dimension.key, dimension.value
