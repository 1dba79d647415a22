-- The newest counted answer of each (installation, access method, agent, capability) in these runs. From the runs, which
-- are few, to their documents by the attempt. The access method is the one that was tried: the plan may leave it to
-- the server's default. An answer of an exploratory run is as good as any, one of an excluded run is none. The agents of a
-- run from another Teiten are others, whatever they are called.
SELECT DISTINCT ON (named.installation, named.access_method, named.agent, document.label)
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
    named.installation, named.version, named.access_method, named.agent,
    trial.run_id, trial.id AS trial_id, attempt.measured_from AS measured_at,
    run.publication_id IS NOT NULL AS published
FROM results_run AS run
JOIN results_trial AS trial ON trial.run_id = run.id AND trial.state = 'done'
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_document AS document ON document.attempt_id = attempt.id AND document.kind = 'capability'
CROSS JOIN LATERAL (
    SELECT configuration.dimensions ->> 'installation' AS installation,
        configuration.dimensions ->> 'version' AS version,
        document.content ->> 'access_method' AS access_method,
        coalesce(configuration.dimensions ->> 'agent.primary', '') AS agent
) AS named
WHERE run.id = ANY(%(runs)s) AND run.standing <> 'excluded' AND NOT run.private
    AND NOT EXISTS (SELECT FROM results_runimport WHERE run_id = run.id)
    AND (attempt.measured_from IS NOT NULL OR run.publication_id IS NOT NULL)
ORDER BY named.installation, named.access_method, named.agent, document.label,
    attempt.measured_from DESC NULLS LAST, document.id DESC
