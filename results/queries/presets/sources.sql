-- The newest kept runs of a search and all published ones among them, newest first, as far as any trial counts. Published
-- ones are found by an array: of a join PostgreSQL expects as many rows as there are runs. The configurations of runs that are
-- known are not read.
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
SELECT run.id, (extract(epoch FROM run.created_at) * 1e6)::bigint AS created_us, run.workload, run.headline,
    run.publication_id IS NOT NULL AS published,
    coalesce(of_run.versions, '{}') AS versions, coalesce(of_run.topologies, '{}') AS topologies
FROM kept
JOIN results_run AS run ON run.id = kept.id
CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT dimensions ->> 'major') AS versions,
        array_agg(DISTINCT dimensions ->> 'topology') AS topologies
    FROM results_configuration
    WHERE run.id <> ALL(%(known)s::bigint[]) AND run_id = run.id AND dimensions ? 'major'
) AS of_run
WHERE EXISTS (SELECT FROM results_trial WHERE run_id = run.id AND state = 'done')
ORDER BY run.id DESC
