-- The answers of some attempts, each at an access method of a build. Of a build's attempts that answered the same check
-- the first counts. OFFSET has the attempts looked up one by one; labels are sorted by their bytes, which is quicker.
SELECT DISTINCT ON (build.number, document.label) {columns}
FROM unnest(%(attempts)s::bigint[], %(access_methods)s::text[], %(builds)s::bigint[])
    WITH ORDINALITY AS build (attempt_id, access_method, number, place)
CROSS JOIN LATERAL (
    SELECT id, label COLLATE "C" AS label, content FROM results_document
    WHERE attempt_id = build.attempt_id AND kind = 'capability'
        AND content ->> 'access_method' = build.access_method
        AND (%(capabilities)s::text[] = '{}' OR label = ANY(%(capabilities)s))
        AND (%(ids)s::bigint[] IS NULL OR id = ANY(%(ids)s))
    OFFSET 0
) AS document
ORDER BY build.number, document.label, build.place
