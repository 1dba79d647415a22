-- The newest counted answer of each (installation, access method, agent, capability): of the newest attempt at each group
-- of checks, since what is checked changes with Teiten. LIMIT and OFFSET have the few attempts looked up one by one.
WITH RECURSIVE {newest}, counted AS MATERIALIZED (
    SELECT newest.*, of_trial.*
    FROM newest
    CROSS JOIN LATERAL (
        SELECT configuration.dimensions ->> 'version' AS version, trial.run_id, trial.id AS trial_id,
            run.publication_id IS NOT NULL AS published
        FROM results_trial AS trial
        JOIN results_run AS run ON run.id = trial.run_id
        JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
        WHERE trial.attempt_id = newest.attempt_id LIMIT 1
    ) AS of_trial
)
SELECT DISTINCT ON (counted.installation, counted.access_method, counted.agent, document.label)
    document.id, document.label AS capability,
    document.content ->> 'title' AS title,
    document.content ->> 'group' AS "group",
    (document.content ->> 'order')::integer AS "order",
    document.content ->> 'outcome' AS outcome,
    document.content ->> 'message' AS message,
    document.content ->> 'compared' AS compared,
    coalesce(document.content ->> 'statement', '') AS statement,
    coalesce(document.content ->> 'sqlstate', '') AS sqlstate,
    (document.content ->> 'seconds')::float8 AS seconds, (document.content -> 'messages')::json AS messages,
    counted.installation, counted.version, counted.access_method, counted.agent,
    counted.run_id, counted.trial_id, CASE WHEN NOT counted.published THEN counted.measured_at END AS measured_at,
    counted.published
FROM counted
CROSS JOIN LATERAL (
    SELECT id, label, content FROM results_document
    WHERE attempt_id = counted.attempt_id AND kind = 'capability'
        AND content ->> 'access_method' = counted.access_method
    OFFSET 0
) AS document
ORDER BY counted.installation, counted.access_method, counted.agent, document.label,
    counted.measured_at DESC, counted.attempt_id DESC
