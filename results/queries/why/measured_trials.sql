-- Every trial of the runs that counts: its place, its window, its machines, which all attempts of an environment share, and
-- its values, with the ids of what they are values of.
WITH counted AS (
    SELECT
        trial.attempt_id, trial.id AS trial_id, trial.run_id, trial.block, trial.position, trial.configuration_id,
        extract(epoch FROM attempt.measured_to - attempt.measured_from)::float8 AS seconds, attempt.environment
    FROM results_trial AS trial
    JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
    WHERE trial.run_id = ANY(%(runs)s) AND trial.state = 'done'
)
SELECT
    counted.attempt_id, counted.trial_id, counted.run_id, counted.block, counted.position, counted.configuration_id,
    counted.seconds, coalesce(machines.processors::text, '{}') AS processors,
    coalesce(stored.measures::text, '{}') AS measures, coalesce(stored.values, '{}') AS values
FROM counted
LEFT JOIN results_attemptvalues AS stored ON stored.run_id = counted.run_id AND stored.attempt_id = counted.attempt_id
LEFT JOIN (
    SELECT used.environment, json_object_agg(used.node, layer.content #> '{cpu,online}') AS processors
    FROM results_environmentlayer AS used
    JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'hardware'
    WHERE used.environment IN (SELECT environment FROM counted) AND layer.content #>> '{cpu,online}' IS NOT NULL
    GROUP BY used.environment
) AS machines ON machines.environment = counted.environment
ORDER BY counted.run_id, counted.position
