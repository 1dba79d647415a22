-- The configurations of each run: a version of them, that is another one as soon as a row is (a row that is written anew
-- lies elsewhere or was made by another transaction); what each is told apart by, as one JSON array of all, unless this
-- version is known; and how many of its trials are in which of the states.
WITH versioned AS (
    SELECT run_id, md5(string_agg(concat_ws(' ', id, xmin, ctid), ',' ORDER BY index)) AS version
    FROM results_configuration
    WHERE run_id = ANY(%(runs)s)
    GROUP BY run_id
)
SELECT
    versioned.run_id AS run, versioned.version,
    CASE WHEN version <> ALL(%(known)s) THEN (
        SELECT '[' || string_agg('[' || id || ',' || levels::text || ',' || dimensions::text || ']', ',' ORDER BY index) || ']'
        FROM results_configuration AS configuration
        WHERE configuration.run_id = versioned.run_id
    ) END AS contents,
    counted.*
FROM versioned
CROSS JOIN LATERAL (
    SELECT
        array_send(array_agg(configuration_id)) AS configuration,
        array_send(array_agg(array_position(%(states)s::text[], state::text))) AS state,
        array_send(array_agg(trials)) AS trials
    FROM (
        SELECT configuration_id, state, count(*) AS trials
        FROM results_trial
        WHERE results_trial.run_id = versioned.run_id
        GROUP BY configuration_id, state
    ) AS each
) AS counted
ORDER BY versioned.run_id
