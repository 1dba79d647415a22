-- Every metric's values by block, for each pair of configurations of a run with the same specification, where both
-- have enough values.
WITH pair AS (
    SELECT
        (array_agg(id ORDER BY index))[1] AS configuration,
        (array_agg(id ORDER BY index))[2] AS twin
    FROM results_configuration
    WHERE run_id = %(run_id)s
    GROUP BY spec
    HAVING count(*) > 1
)
SELECT
    pair.configuration, pair.twin, measurement.metric_id AS metric, measurement.node, measurement.label,
    array_agg(measurement.value ORDER BY trial.block) FILTER (WHERE is_first) AS values,
    array_agg(trial.block ORDER BY trial.block) FILTER (WHERE is_first) AS blocks,
    array_agg(measurement.value ORDER BY trial.block) FILTER (WHERE NOT is_first) AS twin_values,
    array_agg(trial.block ORDER BY trial.block) FILTER (WHERE NOT is_first) AS twin_blocks
FROM pair
JOIN results_trial AS trial ON trial.configuration_id IN (pair.configuration, pair.twin) AND trial.state = 'done'
CROSS JOIN LATERAL (SELECT trial.configuration_id = pair.configuration AS is_first) AS side
JOIN results_measurement AS measurement ON measurement.attempt_id = trial.attempt_id
GROUP BY pair.configuration, pair.twin, measurement.metric_id, measurement.node, measurement.label
HAVING count(*) FILTER (WHERE is_first) >= %(fewest)s AND count(*) FILTER (WHERE NOT is_first) >= %(fewest)s
ORDER BY pair.configuration, metric, measurement.node, measurement.label
