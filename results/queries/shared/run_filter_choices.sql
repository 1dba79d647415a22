-- What measured runs of these standings and a workload, or all of them, can be filtered by, with the number of runs that have it.
WITH chosen AS (
    SELECT run.tags, run.agents, run.workload, coalesce(plan.name, run.name) AS plan
    FROM results_run AS run
    LEFT JOIN results_plan AS plan ON plan.id = run.plan_id
    WHERE run.publication_id IS NULL AND (%(standings)s::text[] = '{}' OR run.standing = ANY(%(standings)s))
        AND (%(archived)s = 'any' OR run.archived = (%(archived)s = 'yes'))
        AND (%(workload)s = '' OR run.workload = %(workload)s)
)
SELECT
    coalesce((
        SELECT json_object_agg(plan, runs) FROM (SELECT plan, count(*) AS runs FROM chosen GROUP BY plan) AS counted
    ), '{}') AS plans,
    coalesce((
        SELECT json_object_agg(name, runs)
        FROM (
            SELECT agent.name, count(*) AS runs
            FROM chosen CROSS JOIN unnest(chosen.agents) AS used (id) JOIN results_agent AS agent ON agent.id = used.id
            GROUP BY agent.name
        ) AS counted
    ), '{}') AS agents,
    coalesce((
        SELECT json_object_agg(tag, runs)
        FROM (SELECT tag, count(*) AS runs FROM chosen CROSS JOIN unnest(tags) AS tag GROUP BY tag) AS counted
    ), '{}') AS tags,
    coalesce((
        SELECT json_object_agg(workload, runs)
        FROM (SELECT workload, count(*) AS runs FROM chosen GROUP BY workload) AS counted
    ), '{}') AS workloads
