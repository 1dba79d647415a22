-- How long the measured window was in the latest attempts of a workload that count, by its parameters: what was done is
-- what decides how long it takes. Versions, settings and machines are taken together: an estimate, not a result.
WITH past AS (
    SELECT
        configuration.spec -> 'parameters' AS parameters,
        (configuration.dimensions ->> %(part)s)::float8 AS part_s,
        extract(epoch FROM attempt.measured_to - attempt.measured_from)::float8 AS seconds
    FROM results_trial AS trial
    JOIN results_run AS run ON run.id = trial.run_id
    JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
    JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
    WHERE run.workload = %(workload)s AND NOT run.private AND trial.state = 'done' AND attempt.measured_to IS NOT NULL
    ORDER BY attempt.id DESC
    LIMIT 500
)
SELECT
    parameters::json AS parameters, part_s, count(*) AS trials,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS seconds
FROM past
GROUP BY past.parameters, past.part_s
