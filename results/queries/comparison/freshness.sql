-- What comparisons depend on, each of the runs of a group: their trials, the numbers read of them, what metrics mean,
-- references and the runs that these were measured in, which series are in an archive, and other runs of the same plans: the
-- newest, and the last ones before these. Of these excluded and private ones lend nothing; exploratory ones lend as kept ones
-- do. What only a list of the newest runs shows is apart. Trials of runs that are not compared are not counted: they become more by
-- blocks, and whatever happens to them is at a time. Of a compared run that goes on they are counted by their states: two that
-- end at one time can be committed in the other order. OFFSET has runs looked up one by one. BETWEEN has those of a plan read in the order of its own index: all runs,
-- the newest first, would pass by those of all other plans.
WITH compared AS (
    SELECT number, run_id FROM unnest(%(groups)s::int[], %(runs)s::bigint[]) AS compared (number, run_id)
),
asked AS (
    SELECT number, array(SELECT run_id FROM compared WHERE compared.number = asked.number) AS runs
    FROM generate_series(1, %(count)s::int) AS asked (number)
),
known AS (
    SELECT DISTINCT ON (compared.number, run.plan_id) compared.number, run.plan_id, run.started_at
    FROM results_run AS run JOIN compared ON compared.run_id = run.id
    WHERE run.publication_id IS NULL
    ORDER BY compared.number, run.plan_id, run.id DESC
),
beside AS (
    SELECT asked.number,
        array(
            SELECT other.id
            FROM known
            CROSS JOIN LATERAL (
                SELECT run.id
                FROM results_run AS run
                WHERE run.plan_id BETWEEN known.plan_id AND known.plan_id AND run.state = 'finished'
                    AND run.publication_id IS NULL AND run.standing <> 'excluded' AND NOT run.private AND run.id <> ALL(asked.runs)
                    AND run.ended_at < known.started_at
                ORDER BY run.plan_id DESC, run.id DESC
                LIMIT %(earlier)s
            ) AS other
            WHERE known.number = asked.number
            ORDER BY other.id DESC
            LIMIT 4 * %(earlier)s
        ) AS earlier,
        array(
            SELECT other.id
            FROM known
            CROSS JOIN LATERAL (
                SELECT run.id
                FROM results_run AS run
                WHERE run.plan_id BETWEEN known.plan_id AND known.plan_id AND run.state = 'finished'
                    AND run.publication_id IS NULL AND run.standing <> 'excluded' AND NOT run.private AND run.id <> ALL(asked.runs)
                ORDER BY run.plan_id DESC, run.id DESC
                LIMIT %(others)s
            ) AS other
            WHERE known.number = asked.number
            ORDER BY other.id DESC
            LIMIT 4 * %(others)s
        ) AS others
    FROM asked
),
listed AS (
    SELECT id FROM results_run WHERE NOT archived ORDER BY id DESC LIMIT %(latest)s
),
saved AS (
    SELECT DISTINCT attempt.run_id AS id
    FROM results_reference AS reference
    JOIN results_snapshot AS snapshot ON snapshot.hash = reference.snapshot_id
    JOIN results_attempt AS attempt ON attempt.id = ANY(snapshot.attempts)
),
chosen AS (
    SELECT number, id, bool_or(is_compared) AS is_compared, bool_and(is_listed) AS only_listed
    FROM (
        SELECT number, run_id AS id, true AS is_compared, false AS is_listed FROM compared
        UNION ALL
        SELECT number, unnest(earlier || others), false, false FROM beside
        UNION ALL
        SELECT asked.number, saved.id, false, false FROM asked CROSS JOIN saved
        UNION ALL
        SELECT asked.number, listed.id, false, true FROM asked CROSS JOIN listed
    ) AS one
    GROUP BY number, id
),
runs AS (
    SELECT
        chosen.number,
        string_agg(of_run.state, E'\n' ORDER BY chosen.id) FILTER (WHERE NOT only_listed) AS state,
        string_agg(of_run.state, E'\n' ORDER BY chosen.id) FILTER (WHERE only_listed) AS listed
    FROM chosen
    CROSS JOIN LATERAL (
        SELECT concat_ws(
            ' ', run.id, run.state, run.standing, run.private, run.archived, run.name, run.headline, run.publication_id, run.blocks,
            CASE WHEN chosen.is_compared THEN (SELECT count(*) FROM results_trial WHERE run_id = run.id) END,
            CASE WHEN chosen.is_compared AND run.state = 'running' THEN (
                SELECT string_agg(concat_ws(' ', state, trials), ' ' ORDER BY state)
                FROM (SELECT state, count(*) AS trials FROM results_trial WHERE run_id = run.id GROUP BY state) AS of_state
            ) END,
            (SELECT max(state_at) FROM results_trial WHERE run_id = run.id),
            (SELECT max(ingested_at) FROM results_attempt WHERE run_id = run.id)
        ) AS state
        FROM results_run AS run
        WHERE run.id = chosen.id
        OFFSET 0
    ) AS of_run
    GROUP BY chosen.number
)
SELECT
    concat_ws(
        E'\n',
        runs.state,
        (SELECT md5(string_agg(metric::text, E'\n' ORDER BY name)) FROM results_metric AS metric),
        (
            SELECT concat_ws(' ', max(noise.id), count(*))
            FROM results_noise AS noise JOIN results_run AS run ON run.id = noise.run_id
            WHERE run.standing <> 'excluded' AND NOT run.private
        ),
        (SELECT string_agg(concat_ws(' ', name, snapshot_id, series), E'\n' ORDER BY name) FROM results_reference),
        (SELECT string_agg(concat_ws(' ', first_run, detached_at), E'\n' ORDER BY first_run) FROM results_detachedrange)
    ) AS state,
    coalesce(runs.listed, '') AS listed,
    array(SELECT name FROM results_reference ORDER BY name) AS references,
    array(SELECT unnest(beside.others) AS id ORDER BY id) AS others,
    array(SELECT unnest(beside.earlier) AS id ORDER BY id) AS earlier
FROM beside
LEFT JOIN runs ON runs.number = beside.number
ORDER BY beside.number
