-- Of those, the configurations that the filters let through, each with its cell and what else tells it apart.
, chosen AS MATERIALIZED (
    SELECT
        id, run_id, dimensions,
        coalesce(dimensions ->> %(x)s, 'default') AS x,
        CASE WHEN %(series)s = '' THEN '' ELSE coalesce(dimensions ->> %(series)s, 'default') END AS series,
        dimensions - ARRAY['run', %(x)s, %(series)s] AS rest
    FROM configuration
    WHERE NOT EXISTS (
        SELECT FROM jsonb_each(%(filters)s::jsonb) AS filter
        WHERE NOT filter.value ? coalesce(dimensions ->> filter.key, 'default')
    )
)
