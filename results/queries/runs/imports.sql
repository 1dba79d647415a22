-- Imports with their files, newest first.
SELECT
    publication.slug, publication.title AS name, publication.program, publication.note, publication.measured_on,
    run.created_at AS imported_at, coalesce(author.username, '') AS imported_by, run.id AS run_id, run.standing,
    run.workload, run.headline,
    (SELECT count(*) FROM results_trial WHERE run_id = run.id) AS trials,
    (SELECT count(*) FROM results_configuration WHERE run_id = run.id) AS configurations,
    (
        SELECT coalesce(json_agg(
            json_build_object('name', name, 'sha256', sha256, 'size_bytes', size_bytes) ORDER BY id
        ), '[]')
        FROM results_importedfile WHERE publication_id = publication.id
    ) AS files
FROM results_publication AS publication
JOIN results_run AS run ON run.publication_id = publication.id
LEFT JOIN auth_user AS author ON author.id = run.created_by_id
WHERE publication.program <> ''
    AND (%(slugs)s::text[] IS NULL OR publication.slug = ANY(%(slugs)s))
    AND (%(before_run)s::bigint IS NULL OR run.id < %(before_run)s)
ORDER BY run.id DESC
LIMIT %(limit)s
