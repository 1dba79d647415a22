-- The newest counted answer of each (installation, access method, agent, capability) in the runs searched for. The index
-- of checked builds is asked for one group of attempts at the same checks after the other, and of each for the newest
-- attempt that counts, so that it costs as much as there are groups, not as there are attempts. An answer of an exploratory
-- run is as good as any, one of an excluded run is none. The agents of a run from another Teiten are others, whatever they
-- are called.
WITH RECURSIVE build AS (
    (
        SELECT installation, access_method, agent, capabilities FROM results_checkedbuild
        ORDER BY installation, access_method, agent, capabilities LIMIT 1
    )
    UNION ALL
    SELECT next.installation, next.access_method, next.agent, next.capabilities
    FROM build
    CROSS JOIN LATERAL (
        SELECT installation, access_method, agent, capabilities FROM results_checkedbuild
        WHERE (installation, access_method, agent, capabilities)
            > (build.installation, build.access_method, build.agent, build.capabilities)
        ORDER BY installation, access_method, agent, capabilities LIMIT 1
    ) AS next
), newest AS (
    SELECT build.*, checked.attempt_id, checked.measured_at
    FROM build
    CROSS JOIN LATERAL (
        SELECT checked.attempt_id, checked.measured_at
        FROM results_checkedbuild AS checked
        WHERE (checked.installation, checked.access_method, checked.agent, checked.capabilities)
            = (build.installation, build.access_method, build.agent, build.capabilities)
            AND (SELECT trial.state FROM results_trial AS trial WHERE trial.attempt_id = checked.attempt_id) = 'done'
            AND (
                SELECT {conditions} AND run.standing <> 'excluded' AND NOT run.private
                    AND (checked.measured_at IS NOT NULL OR run.publication_id IS NOT NULL)
                FROM results_run AS run
                WHERE run.id = checked.run_id
            )
            AND NOT EXISTS (SELECT FROM results_runimport WHERE run_id = checked.run_id)
        ORDER BY checked.measured_at DESC NULLS LAST, checked.attempt_id DESC LIMIT 1
    ) AS checked
)
SELECT DISTINCT ON (newest.installation, newest.access_method, newest.agent, document.label)
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
    newest.installation, configuration.dimensions ->> 'version' AS version, newest.access_method, newest.agent,
    trial.run_id, trial.id AS trial_id, newest.measured_at, run.publication_id IS NOT NULL AS published
FROM newest
JOIN results_trial AS trial ON trial.attempt_id = newest.attempt_id
JOIN results_run AS run ON run.id = trial.run_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_document AS document ON document.attempt_id = newest.attempt_id AND document.kind = 'capability'
    AND document.content ->> 'access_method' = newest.access_method
ORDER BY newest.installation, newest.access_method, newest.agent, document.label,
    newest.measured_at DESC NULLS LAST, newest.attempt_id DESC
