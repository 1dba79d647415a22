-- The newest kept runs of a search and all published ones among them, newest first, as far as any trial counts. Published
-- ones are found by an array: of a join PostgreSQL expects as many rows as there are runs.
WITH kept AS (
    (
        SELECT run.id FROM results_run AS run
        WHERE {conditions} AND run.standing = 'kept' AND NOT run.private AND run.publication_id IS NULL
        ORDER BY run.id DESC LIMIT %(newest)s
    )
    UNION ALL
    (
        SELECT run.id FROM results_run AS run
        WHERE {conditions} AND run.standing = 'kept' AND %(published)s
            AND run.publication_id = ANY(ARRAY(SELECT id FROM results_publication WHERE program = ''))
    )
)
SELECT run.id AS run_id, run.workload, run.headline, run.publication_id IS NOT NULL AS published,
    array_agg(DISTINCT configuration.dimensions ->> 'major') AS versions,
    array_agg(DISTINCT configuration.dimensions ->> 'topology') AS topologies
FROM kept
JOIN results_run AS run ON run.id = kept.id
JOIN results_configuration AS configuration ON configuration.run_id = run.id
WHERE EXISTS (SELECT FROM results_trial WHERE run_id = run.id AND state = 'done')
    AND configuration.dimensions ? 'major'
GROUP BY run.id
ORDER BY run.id DESC
