-- What a trend depends on, besides which runs it follows: their trials, the numbers read of them, which metric comes
-- first, and what metrics mean. A trial of a run that has ended is done, or no longer, with numbers that are stored or read again; of a run
-- that goes on it is so after they were stored, and those that are done are counted. OFFSET has runs looked up one by one.
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
                        (SELECT max(ingested_at) FROM results_attempt WHERE run_id = run.id)
                    ) AS state
                FROM results_run AS run
                WHERE run.id = ANY(%(runs)s)
                OFFSET 0
            ) AS of_run
        ),
        (SELECT md5(string_agg(metric::text, E'\n' ORDER BY name)) FROM results_metric AS metric)
    ) AS state
