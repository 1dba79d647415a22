-- The index of checked builds is asked for one group of attempts at the same checks after the other, and of each for the
-- newest attempt, and the ones before it until one counts: it costs as much as there are groups, not as there are attempts.
-- An answer of an exploratory run is as good as any, one of an excluded run is none. The agents of a run from another Teiten
-- are others, whatever they are called.
build AS (
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
), attempt AS (
    SELECT build.installation, build.access_method, build.agent, build.capabilities,
        'infinity'::timestamptz AS measured_at, 0::bigint AS attempt_id, false AS counts
    FROM build
    UNION ALL
    SELECT before.installation, before.access_method, before.agent, before.capabilities, before.measured_at,
        before.attempt_id, coalesce((
            SELECT trial.state = 'done' AND run.workload = 'capabilities' AND run.standing <> 'excluded'
                AND NOT run.private AND NOT run.archived
                AND NOT EXISTS (SELECT FROM results_runimport WHERE run_id = run.id)
            FROM results_trial AS trial JOIN results_run AS run ON run.id = trial.run_id
            WHERE trial.attempt_id = before.attempt_id
        ), false)
    FROM attempt
    CROSS JOIN LATERAL (
        SELECT * FROM results_checkedbuild AS checked
        WHERE checked.installation = attempt.installation AND checked.access_method = attempt.access_method
            AND checked.agent = attempt.agent AND checked.capabilities = attempt.capabilities
            AND (checked.measured_at, checked.attempt_id) < (attempt.measured_at, attempt.attempt_id)
        ORDER BY checked.measured_at DESC, checked.attempt_id DESC LIMIT 1
    ) AS before
    WHERE NOT attempt.counts
), newest AS (
    SELECT installation, access_method, agent, measured_at, attempt_id FROM attempt WHERE counts
)
