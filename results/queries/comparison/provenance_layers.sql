-- The layers of each environment that one of these attempts ran in.
SELECT used.environment, used.node, layer.kind, layer.hash
FROM (SELECT DISTINCT environment FROM results_attempt WHERE id = ANY(%(attempts)s::bigint[])) AS ran
JOIN results_environmentlayer AS used ON used.environment = ran.environment
JOIN results_layer AS layer ON layer.hash = used.layer_id
ORDER BY used.environment, used.node, layer.kind, layer.hash
