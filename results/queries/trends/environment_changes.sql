-- The layers that some attempts ran in, a row each. Contents only of layers that not all of the attempts share.
SELECT used.attempt_id AS attempt, used.node, layer.kind,
    CASE WHEN count(*) OVER (PARTITION BY used.node, layer.hash) < %(count)s THEN layer.content::text END AS content
FROM results_layeruse AS used
JOIN results_layer AS layer ON layer.hash = used.layer_id
WHERE used.attempt_id = ANY(%(attempts)s)
ORDER BY used.attempt_id, used.node, layer.kind
