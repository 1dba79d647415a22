-- What measured runs of these standings and a workload, or all of them, can be filtered by, with the number of runs that have it.
-- Private ones are not among the counts of runs, but are few.
WITH alike AS MATERIALIZED (
    SELECT tags, agents, workload, plan_id, name, sum(runs)::bigint AS runs
    FROM (
        SELECT tags, agents, workload, standing, archived, plan_id, name, runs
        FROM results_runcount
        WHERE NOT published
        UNION ALL
        SELECT run.tags, run.agents, run.workload, run.standing, run.archived, coalesce(run.plan_id, 0),
            CASE WHEN run.plan_id IS NULL THEN run.name ELSE '' END, 1
        FROM results_run AS run
        WHERE run.private AND run.publication_id IS NULL
    ) AS kind
    WHERE (%(standings)s::text[] = '{}' OR standing = ANY(%(standings)s))
        AND (%(archived)s = 'any' OR archived = (%(archived)s = 'yes'))
        AND (%(workload)s = '' OR workload = %(workload)s)
    GROUP BY tags, agents, workload, plan_id, name
    HAVING sum(runs) > 0
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
