-- One row a run: counts of its trials by state, those that are still to be made with the waiting ones, and the agents it
-- touches.
SELECT
    run.id, run.name, run.workload, run.state, run.blocks, run.seed, run.plan_id,
    coalesce(author.username, '') AS created_by,
    run.created_at, run.start_at, run.due_at, run.makes_up_for, run.started_at, run.ended_at, run.headline,
    matrix.configurations,
    counts.trials_total + made.missing AS trials_total,
    counts.trials_done, counts.trials_failed, counts.trials_running,
    counts.trials_waiting + CASE WHEN run.state <> 'cancelled' THEN made.missing ELSE 0 END AS trials_waiting,
    counts.trials_cancelled + CASE WHEN run.state = 'cancelled' THEN made.missing ELSE 0 END AS trials_cancelled,
    made.missing AS trials_to_make,
    ARRAY(
        SELECT name FROM results_agent WHERE id = ANY(run.agents) ORDER BY name
    ) AS agents,
    CASE WHEN publication.id IS NOT NULL THEN json_build_object(
        'slug', publication.slug, 'title', publication.title, 'publisher', publication.publisher,
        'year', publication.year, 'place', publication.place, 'caption', publication.caption, 'program', publication.program
    ) END AS publication,
    run.standing, run.tags, run.archived, run.private,
    CASE WHEN source.run_id IS NOT NULL THEN json_build_object(
        'teiten', source.teiten, 'address', source.address, 'run', source.source_run, 'agents', source.agents,
        'exported_by', source.exported_by, 'archive', source.archive, 'archive_sha256', source.archive_sha256,
        'at', to_char(source.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'by', source.actor
    ) END AS from_teiten
FROM results_run AS run
LEFT JOIN results_publication AS publication ON publication.id = run.publication_id
LEFT JOIN results_runimport AS source ON source.run_id = run.id
LEFT JOIN auth_user AS author ON author.id = run.created_by_id
CROSS JOIN LATERAL (
    SELECT count(*) AS configurations FROM results_configuration WHERE run_id = run.id
) AS matrix
CROSS JOIN LATERAL (
    SELECT
        count(*) AS trials_total,
        count(*) FILTER (WHERE state = 'done') AS trials_done,
        count(*) FILTER (WHERE state = 'failed') AS trials_failed,
        count(*) FILTER (WHERE state = 'running') AS trials_running,
        count(*) FILTER (WHERE state = 'waiting') AS trials_waiting,
        count(*) FILTER (WHERE state = 'cancelled') AS trials_cancelled
    FROM results_trial
    WHERE run_id = run.id
) AS counts
CROSS JOIN LATERAL (
    SELECT CASE WHEN run.making THEN matrix.configurations * run.blocks - counts.trials_total ELSE 0 END AS missing
) AS made
WHERE (%(ids)s::bigint[] IS NULL OR run.id = ANY(%(ids)s))
    AND (%(plan_id)s::bigint IS NULL OR run.plan_id = %(plan_id)s)
    AND (%(published)s::boolean IS NULL OR (run.publication_id IS NOT NULL) = %(published)s)
    AND (%(before_id)s::bigint IS NULL OR run.id < %(before_id)s)
    AND {conditions}
ORDER BY run.id DESC
LIMIT %(limit)s
