-- What the latest attempts of a workload that count took beyond warm-up and measured window, as a whole and by phase.
WITH past AS (
    SELECT
        attempt.phases,
        extract(epoch FROM attempt.ended_at - attempt.started_at)::float8 AS seconds,
        coalesce((configuration.dimensions ->> 'warmup_s')::float8, 0) AS warmup_s,
        coalesce(extract(epoch FROM attempt.measured_to - attempt.measured_from)::float8, 0) AS duration_s
    FROM results_trial AS trial
    JOIN results_run AS run ON run.id = trial.run_id
    JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
    JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
    WHERE run.workload = %(workload)s AND NOT run.private AND trial.state = 'done' AND attempt.ended_at IS NOT NULL
    ORDER BY attempt.id DESC
    LIMIT 500
), phase AS (
    SELECT
        timing ->> 'name' AS name,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(0, (timing ->> 'seconds')::float8 - CASE timing ->> 'name'
            WHEN 'warm' THEN past.warmup_s
            WHEN 'measure' THEN past.duration_s
            ELSE 0
        END)) AS seconds
    FROM past CROSS JOIN LATERAL jsonb_array_elements(past.phases) AS timing
    GROUP BY timing ->> 'name'
)
SELECT
    count(*) AS trials,
    coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(0, seconds - warmup_s - duration_s)), 0) AS seconds,
    coalesce((SELECT json_object_agg(name, phase.seconds ORDER BY name) FROM phase), '{}') AS phases
FROM past
