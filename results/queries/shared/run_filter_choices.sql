-- What measured runs of these standings and a workload, or all of them, can be filtered by, with the number of runs that have it.
-- Runs that are alike are counted once for all four: there are few kinds of them, however many runs there are.
WITH alike AS MATERIALIZED (
    SELECT run.tags, run.agents, run.workload, run.plan_id,
        CASE WHEN run.plan_id IS NULL THEN run.name END AS name, count(*) AS runs
    FROM results_run AS run
    WHERE run.publication_id IS NULL AND (%(standings)s::text[] = '{}' OR run.standing = ANY(%(standings)s))
        AND (%(archived)s = 'any' OR run.archived = (%(archived)s = 'yes'))
        AND (%(workload)s = '' OR run.workload = %(workload)s)
    GROUP BY run.tags, run.agents, run.workload, run.plan_id, CASE WHEN run.plan_id IS NULL THEN run.name END
)
SELECT
    coalesce((
        SELECT json_object_agg(plan, runs)
        FROM (
            SELECT coalesce(plan.name, alike.name) AS plan, sum(alike.runs)::bigint AS runs
            FROM alike LEFT JOIN results_plan AS plan ON plan.id = alike.plan_id
            GROUP BY coalesce(plan.name, alike.name)
        ) AS counted
    ), '{}') AS plans,
    coalesce((
        SELECT json_object_agg(name, runs)
        FROM (
            SELECT agent.name, sum(alike.runs)::bigint AS runs
            FROM alike CROSS JOIN unnest(alike.agents) AS used (id) JOIN results_agent AS agent ON agent.id = used.id
            GROUP BY agent.name
        ) AS counted
    ), '{}') AS agents,
    coalesce((
        SELECT json_object_agg(tag, runs)
        FROM (
            SELECT tag, sum(alike.runs)::bigint AS runs FROM alike CROSS JOIN unnest(alike.tags) AS tag GROUP BY tag
        ) AS counted
    ), '{}') AS tags,
    coalesce((
        SELECT json_object_agg(workload, runs)
        FROM (SELECT workload, sum(runs)::bigint AS runs FROM alike GROUP BY workload) AS counted
    ), '{}') AS workloads
