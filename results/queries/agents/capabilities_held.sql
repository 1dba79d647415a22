-- How many of its checks each access method of an installation has passed, and how many were made, by the newest answers:
-- on the agent where it has passed most.
WITH RECURSIVE {newest}, answer AS (
    SELECT DISTINCT ON (build.number, document.label) build.installation, build.access_method, build.number,
        document.content ->> 'outcome' = 'yes' AS yes
    FROM (
        SELECT *, dense_rank() OVER (ORDER BY installation, access_method, agent) AS number,
            row_number() OVER (ORDER BY measured_at DESC, attempt_id DESC) AS place
        FROM newest
    ) AS build
    CROSS JOIN LATERAL (
        SELECT label COLLATE "C" AS label, content FROM results_document
        WHERE attempt_id = build.attempt_id AND kind = 'capability'
            AND content ->> 'access_method' = build.access_method
        OFFSET 0
    ) AS document
    ORDER BY build.number, document.label, build.place
), held AS (
    SELECT installation, access_method, count(*) FILTER (WHERE yes) AS yes, count(*) AS checked
    FROM answer
    GROUP BY installation, access_method, number
)
SELECT DISTINCT ON (installation, access_method) access_method, installation, yes, checked
FROM held
ORDER BY installation, access_method, yes DESC, checked DESC
