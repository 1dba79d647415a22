-- The checks of capabilities that each of these attempts made, a row an access method. Published figures are older than
-- whatever was measured. LATERAL has the documents of one attempt after the other looked up: joined, as few as 500 attempts
-- had all of the warehouse read.
INSERT INTO results_checkedbuild (run_id, attempt_id, installation, access_method, agent, capabilities, measured_at)
SELECT attempt.run_id, attempt.id,
    coalesce(configuration.dimensions ->> 'installation', ''),
    checked.access_method,
    coalesce(configuration.dimensions ->> 'agent.primary', ''),
    checked.capabilities,
    coalesce(attempt.measured_from, 'epoch')
FROM results_attempt AS attempt
JOIN results_trial AS trial ON trial.id = attempt.trial_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_run AS run ON run.id = attempt.run_id
CROSS JOIN LATERAL (
    SELECT document.content ->> 'access_method' AS access_method, md5(string_agg(document.label, ',' ORDER BY document.label)) AS capabilities
    FROM results_document AS document
    WHERE document.run_id = attempt.run_id AND document.attempt_id = attempt.id AND document.kind = 'capability'
    GROUP BY document.content ->> 'access_method'
) AS checked
WHERE attempt.id = ANY(%(attempts)s) AND (attempt.measured_from IS NOT NULL OR run.publication_id IS NOT NULL)
