-- What can be followed: plans that have run, and workloads, with the number of their runs, and when the last of these was
-- started. Excluded and archived ones are not counted. BETWEEN has the runs of a plan read from the last on, by their index.
SELECT coalesce(plan.name, '') AS plan, counted.workload, counted.runs, counted.exploratory, newest.started_at AS newest_at
FROM (
    SELECT plan_id, workload, coalesce(sum(runs) FILTER (WHERE standing = 'kept'), 0)::bigint AS runs,
        coalesce(sum(runs) FILTER (WHERE standing = 'exploratory'), 0)::bigint AS exploratory
    FROM results_runcount
    WHERE NOT published AND NOT archived AND standing <> 'excluded'
    GROUP BY plan_id, workload
    HAVING sum(runs) > 0
) AS counted
LEFT JOIN results_plan AS plan ON plan.id = counted.plan_id
LEFT JOIN LATERAL (
    (
        SELECT run.started_at
        FROM results_run AS run
        WHERE run.plan_id BETWEEN counted.plan_id AND counted.plan_id AND run.workload = counted.workload
            AND run.standing <> 'excluded' AND NOT run.archived AND NOT run.private AND run.started_at IS NOT NULL
        ORDER BY run.plan_id DESC, run.started_at DESC
        LIMIT 1
    )
    UNION ALL
    (
        SELECT run.started_at
        FROM results_run AS run
        WHERE counted.plan_id = 0 AND run.plan_id IS NULL AND run.workload = counted.workload AND run.publication_id IS NULL
            AND run.standing <> 'excluded' AND NOT run.archived AND NOT run.private AND run.started_at IS NOT NULL
        ORDER BY run.plan_id DESC, run.started_at DESC
        LIMIT 1
    )
) AS newest ON true
ORDER BY plan.name, counted.workload
