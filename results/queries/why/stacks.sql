-- Sampled stacks of the attempts that count: of one trial, or of all trials of one configuration.
SELECT
    trial.id AS trial_id, trial.run_id, run.name AS run_name, configuration.id AS configuration_id,
    coalesce((
        SELECT json_object_agg(factor ->> 'name', configuration.levels ->> (factor ->> 'name') ORDER BY place)
        FROM jsonb_array_elements(run.factors) WITH ORDINALITY AS listed (factor, place)
    ), '{}') AS levels,
    configuration.dimensions::json AS dimensions, document.label, document.content::json AS content
FROM results_trial AS trial
JOIN results_run AS run ON run.id = trial.run_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_document AS document ON document.attempt_id = trial.attempt_id AND document.kind = 'stacks'
WHERE (%(trial_id)s::bigint IS NULL OR trial.id = %(trial_id)s)
    AND (%(configuration_id)s::bigint IS NULL OR trial.configuration_id = %(configuration_id)s)
ORDER BY trial.id, document.node, document.label
