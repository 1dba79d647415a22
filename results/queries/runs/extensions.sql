-- One block of some runs: a row a configuration, with the agents that its trials take, how many of them still wait, and
-- how long those that are done took.
SELECT
    configuration.run_id,
    configuration.dimensions::json AS dimensions,
    coalesce(min(trial.agents), '{}') AS agents,
    count(*) FILTER (WHERE trial.state IN ('waiting', 'running')) AS waiting,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM attempt.ended_at - attempt.started_at)::float8)
        FILTER (WHERE trial.state = 'done') AS seconds
FROM results_configuration AS configuration
LEFT JOIN results_trial AS trial ON trial.configuration_id = configuration.id
LEFT JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
WHERE configuration.run_id = ANY(%(runs)s)
GROUP BY configuration.run_id, configuration.id, configuration.index, configuration.dimensions
ORDER BY configuration.run_id, configuration.index
