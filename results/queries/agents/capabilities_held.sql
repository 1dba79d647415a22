-- How many of its checks each build has passed, and how many were made, by the answers of some attempts, each at an access
-- method of a build. Of a build's attempts that answered the same check the first counts.
WITH answer AS (
    SELECT DISTINCT ON (build.number, document.label) build.number, document.content ->> 'outcome' = 'yes' AS yes
    FROM unnest(%(attempts)s::bigint[], %(access_methods)s::text[], %(builds)s::bigint[])
        WITH ORDINALITY AS build (attempt_id, access_method, number, place)
    CROSS JOIN LATERAL (
        SELECT label COLLATE "C" AS label, content FROM results_document
        WHERE attempt_id = build.attempt_id AND kind = 'capability'
            AND content ->> 'access_method' = build.access_method
        OFFSET 0
    ) AS document
    ORDER BY build.number, document.label, build.place
)
SELECT number, count(*) FILTER (WHERE yes) AS yes, count(*) AS checked FROM answer GROUP BY number
