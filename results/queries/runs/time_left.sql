-- One row for each configuration of a run and the agents of its trials: how many of them wait, since when some run, how
-- many seconds those that are done took.
SELECT
    configuration.index AS configuration, trial.agents,
    count(*) FILTER (WHERE trial.state = 'waiting') AS waiting,
    coalesce(array_agg(latest.started_at) FILTER (WHERE trial.state = 'running'), '{}') AS running,
    coalesce(
        array_agg(extract(epoch FROM counted.ended_at - counted.started_at)::float8)
            FILTER (WHERE counted.ended_at - counted.started_at IS NOT NULL),
        '{}'
    ) AS took
FROM results_trial AS trial
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
LEFT JOIN results_attempt AS counted
    ON counted.id = trial.attempt_id AND counted.run_id = trial.run_id AND trial.state = 'done'
LEFT JOIN LATERAL (
    SELECT started_at FROM results_attempt
    WHERE trial_id = trial.id AND trial.state = 'running' ORDER BY number DESC LIMIT 1
) AS latest ON true
WHERE trial.run_id = %(run_id)s
GROUP BY configuration.index, trial.agents
