-- The configurations of the runs, and how many trials of each are in which state.
SELECT
    configuration.id, configuration.run_id, run.looks::text AS looks,
    configuration.levels::text AS levels, configuration.dimensions::text AS dimensions,
    coalesce(trials.done, 0) AS done, coalesce(trials.failed, 0) AS failed, coalesce(trials.cancelled, 0) AS cancelled,
    coalesce(trials.waiting, 0) AS waiting, coalesce(trials.running, 0) AS running
FROM results_configuration AS configuration
JOIN results_run AS run ON run.id = configuration.run_id
LEFT JOIN (
    SELECT
        configuration_id,
        count(*) FILTER (WHERE state = 'done') AS done,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
        count(*) FILTER (WHERE state = 'waiting') AS waiting,
        count(*) FILTER (WHERE state = 'running') AS running
    FROM results_trial
    WHERE run_id = ANY(%(runs)s)
    GROUP BY configuration_id
) AS trials ON trials.configuration_id = configuration.id
WHERE configuration.run_id = ANY(%(runs)s)
ORDER BY configuration.run_id, configuration.index
