-- The checks of capabilities that each of these attempts made, a row an access method. Published figures are older than
-- whatever was measured.
INSERT INTO results_checkedbuild (run_id, attempt_id, installation, access_method, agent, capabilities, measured_at)
SELECT document.run_id, document.attempt_id,
    coalesce(configuration.dimensions ->> 'installation', ''),
    document.content ->> 'access_method',
    coalesce(configuration.dimensions ->> 'agent.primary', ''),
    md5(string_agg(document.label, ',' ORDER BY document.label)),
    coalesce(attempt.measured_from, 'epoch')
FROM results_document AS document
JOIN results_attempt AS attempt ON attempt.id = document.attempt_id
JOIN results_trial AS trial ON trial.id = attempt.trial_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_run AS run ON run.id = document.run_id
WHERE document.kind = 'capability' AND document.attempt_id = ANY(%(attempts)s)
    AND (attempt.measured_from IS NOT NULL OR run.publication_id IS NOT NULL)
GROUP BY document.run_id, document.attempt_id, attempt.measured_from, configuration.dimensions,
    document.content ->> 'access_method'
