-- By how many the counts of runs (migration 0047) are too small, for each kind whose counts are not the number of its runs.
SELECT plan_id, name, workload, standing, archived, published, tags, agents, sum(runs)::bigint AS runs
FROM (
    SELECT
        CASE WHEN run.publication_id IS NULL THEN coalesce(run.plan_id, 0) ELSE 0 END AS plan_id,
        CASE WHEN run.publication_id IS NULL AND run.plan_id IS NULL THEN run.name ELSE '' END AS name,
        run.workload, run.standing, run.archived, run.publication_id IS NOT NULL AS published, run.tags, run.agents,
        1 AS runs
    FROM results_run AS run
    LEFT JOIN results_publication AS publication ON publication.id = run.publication_id
    WHERE NOT run.private AND coalesce(publication.program, '') = ''
    UNION ALL
    SELECT plan_id, name, workload, standing, archived, published, tags, agents, -runs
    FROM results_runcount
) AS counted
GROUP BY plan_id, name, workload, standing, archived, published, tags, agents
HAVING sum(runs) <> 0
