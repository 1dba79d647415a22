-- Every configuration of the runs chosen with all its dimensions as text: those of its specification, the factors
-- (a composite level has only its label) and the run. Empty values are 'default'. Numbers as short as they can be.
WITH configuration AS MATERIALIZED (
    SELECT listed.id, listed.run_id, (
        SELECT jsonb_object_agg(key, coalesce(nullif(
            CASE jsonb_typeof(value)
                WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
                ELSE value #>> '{}'
            END, ''), 'default'))
        FROM jsonb_each(listed.levels || listed.dimensions || jsonb_build_object('run', listed.run_id))
    ) AS dimensions
    FROM results_configuration AS listed
    WHERE listed.run_id = ANY(%(runs)s)
)
