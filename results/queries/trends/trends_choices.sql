-- What can be followed: plans that have run, and workloads, with the number of their runs. Excluded and archived ones are
-- not counted.
SELECT
    coalesce(plan.name, '') AS plan, run.workload, count(*) FILTER (WHERE run.standing = 'kept') AS runs,
    count(*) FILTER (WHERE run.standing = 'exploratory') AS exploratory, max(run.started_at) AS newest_at
FROM results_run AS run
LEFT JOIN results_plan AS plan ON plan.id = run.plan_id
WHERE run.publication_id IS NULL AND run.standing <> 'excluded' AND NOT run.archived AND NOT run.private
GROUP BY plan.name, run.workload
ORDER BY plan.name, run.workload
