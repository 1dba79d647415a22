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
WHERE (%(hash)s = '' OR snapshot.hash = %(hash)s)
    AND (%(before)s::timestamptz IS NULL OR snapshot.created_at < %(before)s)
ORDER BY snapshot.created_at DESC, snapshot.hash
LIMIT %(limit)s
