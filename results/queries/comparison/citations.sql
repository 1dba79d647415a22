-- Citations, newest first.
SELECT
    snapshot.hash, snapshot.query, snapshot.rule, coalesce(nullif(btrim(author.first_name || ' ' || author.last_name), ''), author.username, '') AS created_by, snapshot.created_at,
    array(
        SELECT run #>> '{}' FROM jsonb_array_elements(snapshot.content #> '{selection,runs}') AS run
    ) AS runs,
    cardinality(snapshot.attempts) AS trials,
    snapshot.content #>> '{metric,label}' AS metric,
    array(SELECT name FROM results_reference WHERE snapshot_id = snapshot.hash ORDER BY name) AS references
FROM results_snapshot AS snapshot
LEFT JOIN auth_user AS author ON author.id = snapshot.created_by_id
WHERE (%(hashes)s::text[] IS NULL OR snapshot.hash = ANY(%(hashes)s))
    AND (
        NOT EXISTS (SELECT FROM results_snapshot WHERE hash = %(before)s)
        OR (snapshot.created_at, snapshot.hash)
            < (SELECT created_at, hash FROM results_snapshot WHERE hash = %(before)s)
    )
ORDER BY snapshot.created_at DESC, snapshot.hash DESC
LIMIT %(limit)s
