-- Configurations with sampled stacks that count, newest run first: of the given runs and of the trial's, else of all. The
-- index of sampled stacks is asked for one run after the other, and no further than there are configurations to return.
WITH RECURSIVE sampled AS (
    (
        SELECT run_id FROM results_document
        WHERE kind = 'stacks'
            AND (%(trial_id)s::bigint IS NULL OR run_id = (SELECT run_id FROM results_trial WHERE id = %(trial_id)s))
            AND (%(runs)s::bigint[] = '{}' OR run_id = ANY(%(runs)s))
        ORDER BY run_id DESC LIMIT 1
    )
    UNION ALL
    SELECT before.run_id
    FROM sampled
    CROSS JOIN LATERAL (
        SELECT run_id FROM results_document
        WHERE kind = 'stacks' AND run_id < sampled.run_id AND %(trial_id)s::bigint IS NULL
            AND (%(runs)s::bigint[] = '{}' OR run_id = ANY(%(runs)s))
        ORDER BY run_id DESC LIMIT 1
    ) AS before
), latest AS MATERIALIZED (
    SELECT run_id FROM sampled
    WHERE (  -- no EXISTS, which would be joined to all trials
        SELECT true FROM results_document AS document
        JOIN results_trial AS trial ON trial.attempt_id = document.attempt_id
        WHERE document.kind = 'stacks' AND document.run_id = sampled.run_id
        LIMIT 1
    )
    LIMIT %(limit)s
)
SELECT
    configuration.id, run.id AS run_id, run.name AS run_name,
    coalesce((
        SELECT json_object_agg(factor ->> 'name', configuration.levels ->> (factor ->> 'name') ORDER BY place)
        FROM jsonb_array_elements(run.factors) WITH ORDINALITY AS listed (factor, place)
    ), '{}') AS levels,
    found.trials, coalesce(%(trial_id)s = ANY(found.trials), false) AS own
FROM (
    SELECT trial.configuration_id, array_agg(DISTINCT trial.id) AS trials
    FROM latest
    JOIN results_document AS document ON document.run_id = latest.run_id AND document.kind = 'stacks'
    JOIN results_trial AS trial ON trial.attempt_id = document.attempt_id
    GROUP BY trial.configuration_id
) AS found
JOIN results_configuration AS configuration ON configuration.id = found.configuration_id
JOIN results_run AS run ON run.id = configuration.run_id
ORDER BY run.id DESC, configuration.index
LIMIT %(limit)s
