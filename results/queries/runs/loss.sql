-- One row a run: what goes with it when it is deleted, and what rests on it.
SELECT
    run.id, run.name, run.workload, run.state, run.standing, run.archived, run.created_by_id,
    run.publication_id IS NOT NULL AS published,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id) AS trials,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id AND state = 'done') AS trials_done,
    (SELECT count(*) FROM results_measurement WHERE run_id = run.id) AS measurements,
    (SELECT count(*) FROM results_series WHERE run_id = run.id) AS series,
    (SELECT count(*) FROM results_noise WHERE run_id = run.id) AS noise,
    (SELECT count(*) FROM results_alert WHERE run_id = run.id) AS alerts,
    attempts.*,
    ARRAY(
        SELECT snapshot.hash FROM results_snapshot AS snapshot
        WHERE snapshot.attempts && attempts.ids
        ORDER BY snapshot.created_at DESC
    ) AS citations,
    ARRAY(
        SELECT reference.name
        FROM results_reference AS reference
        JOIN results_snapshot AS snapshot ON snapshot.hash = reference.snapshot_id
        WHERE snapshot.attempts && attempts.ids
        ORDER BY reference.name
    ) AS references
FROM results_run AS run
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(attempt.id), '{}') AS ids,
        coalesce(array_agg(attempt.bundle ORDER BY attempt.id) FILTER (WHERE attempt.bundle <> ''), '{}') AS bundles,
        coalesce(sum(attempt.bundle_bytes), 0)::bigint AS bundle_bytes,
        count(*) FILTER (
            WHERE attempt.state = 'running' OR EXISTS (SELECT FROM results_lease WHERE attempt_id = attempt.id)
        ) AS stopping
    FROM results_attempt AS attempt
    WHERE attempt.run_id = run.id
) AS attempts
WHERE run.id = ANY(%(runs)s)
ORDER BY run.id DESC
