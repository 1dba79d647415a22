-- The kept runs of a plan and a workload ('': of all) that a filter lets through: how many, how many more would be,
-- were they not exploratory, and the newest of them, or the newest before one. None that is archived, private or published.
WITH matching AS (
    SELECT run.id, run.standing
    FROM results_run AS run
    WHERE run.publication_id IS NULL AND NOT run.archived AND NOT run.private
        AND run.standing IN ('kept', 'exploratory')
        AND (%(plan)s = '' OR run.plan_id = (SELECT id FROM results_plan WHERE name = %(plan)s))
        AND (%(workload)s = '' OR run.workload = %(workload)s)
        AND (
            %(agents)s::text[] = '{}'
            OR EXISTS (
                SELECT FROM results_trial AS trial JOIN results_agent AS agent ON agent.id = ANY(trial.agents)
                WHERE trial.run_id = run.id AND trial.block = 1 AND agent.name = ANY(%(agents)s)
            )
        )
        AND (%(tags)s::text[] = '{}' OR run.tags::text[] && %(tags)s::text[])
        AND (%(since)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date >= %(since)s)
        AND (%(until)s::date IS NULL OR (run.started_at AT TIME ZONE 'UTC')::date <= %(until)s)
)
SELECT
    count(*) FILTER (WHERE standing = 'kept') AS kept,
    count(*) FILTER (WHERE standing = 'exploratory') AS exploratory,
    array(
        SELECT id FROM matching
        WHERE standing = 'kept' AND (%(before)s::bigint IS NULL OR id < %(before)s)
        ORDER BY id DESC LIMIT %(most)s
    ) AS ids
FROM matching
