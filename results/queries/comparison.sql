-- One row a cell (x, series): the summary of one metric over the trials that count, and every one of them.
SELECT
    chosen.x, chosen.series,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY measurement.value) AS median,
    avg(measurement.value) AS mean,
    min(measurement.value) AS minimum,
    max(measurement.value) AS maximum,
    count(*) AS n,
    json_agg(
        json_build_object(
            'trial_id', trial.id, 'run_id', trial.run_id, 'block', trial.block, 'value', measurement.value
        ) ORDER BY trial.run_id, trial.block, trial.position
    ) AS values,
    count(DISTINCT chosen.rest) AS configurations
FROM chosen
JOIN results_trial AS trial ON trial.configuration_id = chosen.id AND trial.state = 'done'
JOIN results_measurement AS measurement
    ON measurement.attempt_id = trial.attempt_id AND measurement.metric_id = %(metric)s
        AND measurement.node = %(node)s AND measurement.label = %(label)s
GROUP BY chosen.x, chosen.series
