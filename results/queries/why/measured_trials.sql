-- Every trial of the runs that counts: its place, its window and its machines.
SELECT
    trial.attempt_id, trial.id AS trial_id, trial.run_id, trial.block, trial.position, trial.configuration_id,
    extract(epoch FROM attempt.measured_to - attempt.measured_from)::float8 AS seconds,
    coalesce(machines.processors, '{}') AS processors
FROM results_trial AS trial
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
LEFT JOIN (
    SELECT used.attempt_id, json_object_agg(used.node, layer.content #> '{cpu,online}') AS processors
    FROM results_layeruse AS used
    JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'hardware'
    WHERE used.run_id = ANY(%(runs)s) AND layer.content #>> '{cpu,online}' IS NOT NULL
    GROUP BY used.attempt_id
) AS machines ON machines.attempt_id = trial.attempt_id
WHERE trial.run_id = ANY(%(runs)s) AND trial.state = 'done'
ORDER BY trial.run_id, trial.position
