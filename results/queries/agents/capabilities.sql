-- The newest attempt that counts at each group of checks of an (installation, access method, agent), since what is checked
-- changes with Teiten. LIMIT has the few attempts looked up one by one.
WITH RECURSIVE {newest}
SELECT newest.installation, newest.access_method, newest.agent, of_trial.version, of_trial.run_id, of_trial.trial_id,
    newest.attempt_id, CASE WHEN NOT of_trial.published THEN newest.measured_at END AS measured_at, of_trial.published,
    (
        %(capabilities)s::text[] = '{}'
        OR EXISTS (
            SELECT FROM results_document
            WHERE attempt_id = newest.attempt_id AND kind = 'capability' AND label = ANY(%(capabilities)s)
                AND content ->> 'access_method' = newest.access_method
        )
    ) AS matching
FROM newest
CROSS JOIN LATERAL (
    SELECT configuration.dimensions ->> 'version' AS version, trial.run_id, trial.id AS trial_id,
        run.publication_id IS NOT NULL AS published
    FROM results_trial AS trial
    JOIN results_run AS run ON run.id = trial.run_id
    JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
    WHERE trial.attempt_id = newest.attempt_id LIMIT 1
) AS of_trial
