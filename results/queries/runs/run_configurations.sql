-- One row a configuration of one run, of all or of some, with the summary of its headline metric over the trials that
-- count.
SELECT
    configuration.id, configuration.index, configuration.name,
    configuration.levels::json AS levels, configuration.dimensions::json AS dimensions,
    summary.median, summary.minimum, summary.maximum, summary.n,
    (summary.maximum - summary.minimum) / nullif(summary.median, 0) AS spread,
    summary.trials, summary.minimum_trial, summary.maximum_trial
FROM results_configuration AS configuration
JOIN results_run AS run ON run.id = configuration.run_id
CROSS JOIN LATERAL (
    SELECT
        percentile_cont(0.5) WITHIN GROUP (ORDER BY headline.value) AS median,
        min(headline.value) AS minimum,
        max(headline.value) AS maximum,
        count(headline.value) AS n,
        count(*) AS trials,
        (array_agg(trial.id ORDER BY headline.value, trial.id) FILTER (WHERE headline.value IS NOT NULL))[1]
            AS minimum_trial,
        (array_agg(trial.id ORDER BY headline.value DESC, trial.id DESC) FILTER (WHERE headline.value IS NOT NULL))[1]
            AS maximum_trial
    FROM results_trial AS trial
    LEFT JOIN LATERAL (
        SELECT value FROM results_measurement
        WHERE attempt_id = trial.attempt_id AND metric_id = run.headline AND label = '' AND trial.state = 'done'
        ORDER BY node LIMIT 1
    ) AS headline ON true
    WHERE trial.configuration_id = configuration.id
) AS summary
WHERE configuration.run_id = %(run_id)s
    AND (%(configurations)s::bigint[] IS NULL OR configuration.index = ANY(%(configurations)s))
ORDER BY configuration.index
