-- One row a run: what goes with it when it is deleted, and what rests on it.
SELECT
    run.id, run.name, run.workload, run.state, run.standing, run.archived, run.created_by_id,
    EXISTS (SELECT FROM results_publication WHERE id = run.publication_id AND program = '') AS published,
    run.publication_id IS NOT NULL AS imported,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id) AS trials,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id AND state = 'done') AS trials_done,
    (
        SELECT coalesce(sum(cardinality(measures)), 0)::bigint FROM results_attemptvalues WHERE run_id = run.id
    ) AS measurements,
    (SELECT count(*) FROM results_series WHERE run_id = run.id) AS series,
    (SELECT count(*) FROM results_noise WHERE run_id = run.id) AS noise,
    (SELECT count(*) FROM results_alert WHERE run_id = run.id) AS alerts,
    attempts.*, archived.bundle_bytes, held.citations, printed.reports,
    ARRAY(SELECT name FROM results_reference WHERE snapshot_id = ANY(held.citations) ORDER BY name) AS references
FROM results_run AS run
CROSS JOIN LATERAL (
    SELECT
        coalesce(array_agg(attempt.id), '{}') AS ids,
        coalesce(array_agg(DISTINCT attempt.bundle) FILTER (WHERE attempt.bundle <> ''), '{}') AS bundles,
        count(*) FILTER (
            WHERE attempt.state = 'running' OR EXISTS (SELECT FROM results_lease WHERE attempt_id = attempt.id)
        ) AS stopping
    FROM results_attempt AS attempt
    WHERE attempt.run_id = run.id
) AS attempts
CROSS JOIN LATERAL (
    -- rows of one imported table share an archive
    SELECT coalesce(sum(bytes), 0)::bigint AS bundle_bytes
    FROM (
        SELECT DISTINCT bundle, bundle_bytes AS bytes FROM results_attempt WHERE run_id = run.id AND bundle <> ''
    ) AS archives
) AS archived
CROSS JOIN LATERAL (
    -- those with a number of the run, and those whose verdicts know from it how much values or runs vary
    SELECT coalesce(array_agg(snapshot.hash ORDER BY snapshot.created_at DESC), '{}') AS citations
    FROM results_snapshot AS snapshot
    WHERE snapshot.attempts && attempts.ids
        OR snapshot.content -> 'other_runs' @> to_jsonb(run.id)
        OR snapshot.content -> 'earlier_runs' @> to_jsonb(run.id)
) AS held
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(edition.title || ', edition ' || edition.number ORDER BY edition.id DESC), '{}') AS reports
    FROM results_edition AS edition
    WHERE edition.attempts && attempts.ids
) AS printed
WHERE run.id = ANY(%(runs)s)
ORDER BY run.id DESC
