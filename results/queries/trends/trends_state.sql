-- What a trend depends on, besides which runs it follows: their trials, the numbers read of them, how they are listed, and
-- what metrics mean. Of the trials is read when any of a run changed last, and as long as it goes on how many are done: two that
-- end at one time can be committed in the other order. OFFSET has runs looked up one by one.
SELECT
    concat_ws(
        E'\n',
        (
            SELECT string_agg(of_run.state, E'\n' ORDER BY of_run.id)
            FROM (
                SELECT
                    run.id,
                    concat_ws(
                        ' ', run.id, run.state, run.headline,
                        CASE WHEN run.state = 'running' THEN (
                            SELECT count(*) FROM results_trial WHERE run_id = run.id AND state = 'done'
                        ) END,
                        (SELECT max(state_at) FROM results_trial WHERE run_id = run.id),
                        (SELECT max(ingested_at) FROM results_attempt WHERE run_id = run.id)
                    ) AS state
                FROM results_run AS run
                WHERE run.id = ANY(%(runs)s)
                OFFSET 0
            ) AS of_run
        ),
        (SELECT md5(string_agg(metric::text, E'\n' ORDER BY name)) FROM results_metric AS metric)
    ) AS state
