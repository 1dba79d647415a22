-- One row a configuration of one run, without a value.
SELECT
    configuration.id, configuration.index, configuration.name,
    configuration.levels::json AS levels, configuration.dimensions::json AS dimensions,
    coalesce(counted.trials, 0) AS trials
FROM results_configuration AS configuration
LEFT JOIN (
    SELECT configuration_id, count(*) AS trials FROM results_trial WHERE run_id = %(run_id)s GROUP BY configuration_id
) AS counted ON counted.configuration_id = configuration.id
WHERE configuration.run_id = %(run_id)s
ORDER BY configuration.index
