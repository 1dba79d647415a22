-- One row a configuration family: what is equal in all its configurations. Followed, and so no part of it: the run and
-- the server's version. The installation is what the plan calls it ('18'), not what that was on the day ('18.1').
-- The agents of a run from another Teiten are others, whatever they are called: `teiten` tells them apart, by the run
-- where the address of the other one is not known.
SELECT
    dimensions::json AS texts,
    array_agg(id ORDER BY id) AS configurations,
    sum(trials)::bigint AS done,
    max(run_id) FILTER (WHERE trials > 0) AS newest_run,
    array(SELECT DISTINCT unnest(string_to_array(string_agg(factors, E'\n'), E'\n'))) AS factors
FROM (
    SELECT configuration.id, configuration.run_id, (
            SELECT jsonb_object_agg(key, coalesce(nullif(
                CASE jsonb_typeof(value)
                    WHEN 'number' THEN trim_scale((value #>> '{}')::numeric)::text
                    ELSE value #>> '{}'
                END, ''), 'default'))
            FROM jsonb_each(
                (configuration.levels || configuration.dimensions || jsonb_build_object(
                    'installation',
                    coalesce(configuration.levels ->> 'installation', configuration.dimensions ->> 'major'),
                    'teiten', CASE
                        WHEN source.run_id IS NULL THEN 'this'
                        ELSE coalesce(nullif(source.address, ''), 'of run ' || run.id)
                    END
                )) - ARRAY['run', 'version', 'major']
            )
        ) AS dimensions,
        (SELECT count(*) FROM results_trial WHERE configuration_id = configuration.id AND state = 'done') AS trials,
        (SELECT string_agg(key, E'\n' ORDER BY key) FROM jsonb_object_keys(configuration.levels) AS key) AS factors
    FROM results_configuration AS configuration
    JOIN results_run AS run ON run.id = configuration.run_id
    LEFT JOIN results_plan AS plan ON plan.id = run.plan_id
    LEFT JOIN results_runimport AS source ON source.run_id = run.id
    WHERE run.publication_id IS NULL
        AND (%(runs)s::bigint[] IS NULL OR run.id = ANY(%(runs)s))
        AND (%(plan)s = '' OR plan.name = %(plan)s)
        AND (%(workload)s = '' OR run.workload = %(workload)s)
) AS followed
GROUP BY dimensions
