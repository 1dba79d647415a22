-- What a comparison of the runs depends on: their trials, the numbers read of them, what metrics mean, references and the
-- runs that these were measured in, and other runs of the same plans: the newest, and the last ones before these. Of these
-- excluded and private ones lend nothing; exploratory ones lend as kept ones do. Trials of runs that are only listed besides are not
-- counted: they become more by blocks, and whatever happens to them is at a time.
WITH known AS (
    SELECT DISTINCT ON (plan_id) plan_id, started_at
    FROM results_run
    WHERE id = ANY(%(runs)s) AND publication_id IS NULL
    ORDER BY plan_id, id DESC
),
earlier AS (
    SELECT other.id
    FROM known
    CROSS JOIN LATERAL (
        SELECT run.id
        FROM results_run AS run
        WHERE run.plan_id = known.plan_id AND run.state = 'finished' AND run.publication_id IS NULL
            AND run.standing <> 'excluded' AND NOT run.private AND run.id <> ALL(%(runs)s) AND run.ended_at < known.started_at
        ORDER BY run.id DESC
        LIMIT %(earlier)s
    ) AS other
    ORDER BY other.id DESC
    LIMIT 4 * %(earlier)s
),
others AS (
    SELECT other.id
    FROM known
    CROSS JOIN LATERAL (
        SELECT run.id
        FROM results_run AS run
        WHERE run.plan_id = known.plan_id AND run.state = 'finished' AND run.publication_id IS NULL
            AND run.standing <> 'excluded' AND NOT run.private AND run.id <> ALL(%(runs)s)
        ORDER BY run.id DESC
        LIMIT %(others)s
    ) AS other
    ORDER BY other.id DESC
    LIMIT 4 * %(others)s
)
SELECT
    concat_ws(
        E'\n',
        (
            SELECT string_agg(concat_ws(
                ' ', run.id, run.state, run.standing, run.private, run.archived, run.name, run.headline, run.publication_id, run.blocks,
                CASE WHEN run.id = ANY(%(runs)s) THEN (SELECT count(*) FROM results_trial WHERE run_id = run.id) END,
                (SELECT max(state_at) FROM results_trial WHERE run_id = run.id),
                (SELECT max(ingested_at) FROM results_attempt WHERE run_id = run.id)
            ), E'\n' ORDER BY run.id)
            FROM results_run AS run
            WHERE run.id = ANY(%(runs)s)
                OR run.id IN (SELECT id FROM results_run WHERE NOT archived ORDER BY id DESC LIMIT %(latest)s)
                OR run.id IN (SELECT id FROM others)
                OR run.id IN (SELECT id FROM earlier)
                OR run.id IN (
                    SELECT attempt.run_id
                    FROM results_reference AS reference
                    JOIN results_snapshot AS snapshot ON snapshot.hash = reference.snapshot_id
                    JOIN results_attempt AS attempt ON attempt.id = ANY(snapshot.attempts)
                )
        ),
        (SELECT md5(string_agg(metric::text, E'\n' ORDER BY name)) FROM results_metric AS metric),
        (
            SELECT concat_ws(' ', max(noise.id), count(*))
            FROM results_noise AS noise JOIN results_run AS run ON run.id = noise.run_id
            WHERE run.standing <> 'excluded' AND NOT run.private
        ),
        (SELECT string_agg(concat_ws(' ', name, snapshot_id, series), E'\n' ORDER BY name) FROM results_reference)
    ) AS state,
    array(SELECT name FROM results_reference ORDER BY name) AS references,
    array(SELECT id FROM others ORDER BY id) AS others,
    array(SELECT id FROM earlier ORDER BY id) AS earlier
