-- The layers of each environment, by one attempt that ran in it.
SELECT DISTINCT attempt.environment, use.node, layer.kind, layer.hash
FROM (
    SELECT environment, min(id) AS id
    FROM results_attempt
    WHERE id = ANY(%(attempts)s::bigint[])
    GROUP BY environment
) AS attempt
JOIN results_layeruse AS use ON use.attempt_id = attempt.id
JOIN results_layer AS layer ON layer.hash = use.layer_id
ORDER BY attempt.environment, use.node, layer.kind, layer.hash
