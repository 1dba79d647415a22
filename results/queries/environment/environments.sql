-- What these attempts ran in. First a row for each environment: the attempts, the dimensions of one of their
-- configurations, and the layers used as [role, hash]. Then a row for each layer, its content once.
WITH ran AS (
    SELECT environment, min(id) AS example, array_agg(id) AS attempts
    FROM results_attempt
    WHERE id = ANY(%(attempts)s::bigint[])
    GROUP BY environment
), used AS (
    SELECT environment, node, layer_id
    FROM results_environmentlayer
    WHERE environment IN (SELECT environment FROM ran)
)
SELECT
    ran.attempts,
    configuration.dimensions::json AS dimensions,
    (SELECT json_agg(json_build_array(node, layer_id)) FROM used WHERE used.environment = ran.environment) AS uses,
    NULL AS hash, NULL AS kind, NULL::json AS content
FROM ran
JOIN results_attempt AS attempt ON attempt.id = ran.example
JOIN results_trial AS trial ON trial.id = attempt.trial_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
UNION ALL
SELECT NULL, NULL, NULL, layer.hash, layer.kind, layer.content::json
FROM results_layer AS layer
WHERE layer.hash IN (SELECT layer_id FROM used)
