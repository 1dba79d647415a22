-- One row a range of runs of which there is one.
WITH ranges AS (
    SELECT
        id / %(size)s * %(size)s AS first, count(*) AS runs, max(ended_at) AS ended_at,
        count(*) FILTER (WHERE state <> ALL(%(ended)s)) AS going_on
    FROM results_run
    GROUP BY 1
)
SELECT
    first, first + %(size)s - 1, runs, ended_at, going_on,
    (
        SELECT coalesce(sum(pg_total_relation_size(to_regclass(name || '_from_' || first))), 0)::bigint
        FROM unnest(%(tables)s::text[]) AS name
    ) AS bytes
FROM ranges
ORDER BY first
