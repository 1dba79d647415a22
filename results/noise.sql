-- Of each two configurations of a run with the same specification, every metric's values by block, where both have
-- enough of them.
WITH twins AS (
    SELECT
        (array_agg(id ORDER BY index))[1] AS configuration,
        (array_agg(id ORDER BY index))[2] AS twin
    FROM results_configuration
    WHERE run_id = %(run_id)s
    GROUP BY spec
    HAVING count(*) > 1
)
SELECT
    twins.configuration, twins.twin, measurement.metric_id AS metric, measurement.node, measurement.label,
    array_agg(measurement.value ORDER BY trial.block) FILTER (WHERE own) AS values,
    array_agg(trial.block ORDER BY trial.block) FILTER (WHERE own) AS blocks,
    array_agg(measurement.value ORDER BY trial.block) FILTER (WHERE NOT own) AS twin_values,
    array_agg(trial.block ORDER BY trial.block) FILTER (WHERE NOT own) AS twin_blocks
FROM twins
JOIN results_trial AS trial ON trial.configuration_id IN (twins.configuration, twins.twin) AND trial.state = 'done'
CROSS JOIN LATERAL (SELECT trial.configuration_id = twins.configuration AS own) AS side
JOIN results_measurement AS measurement ON measurement.attempt_id = trial.attempt_id
GROUP BY twins.configuration, twins.twin, measurement.metric_id, measurement.node, measurement.label
HAVING count(*) FILTER (WHERE own) >= %(fewest)s AND count(*) FILTER (WHERE NOT own) >= %(fewest)s
ORDER BY twins.configuration, metric, measurement.node, measurement.label
