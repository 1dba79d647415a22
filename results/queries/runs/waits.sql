-- One row for each agent that a waiting trial of the runs needs and cannot have now: it is not ready, not enabled, or a
-- trial uses it.
SELECT
    waiting.run_id, agent.name AS agent, agent.enabled, agent.state, lease.trial_id AS busy_trial_id,
    lease.run_id AS busy_run_id
FROM (
    SELECT DISTINCT run_id, unnest(agents) AS agent_id
    FROM results_trial
    WHERE run_id = ANY(%(runs)s) AND state = 'waiting'
) AS waiting
JOIN results_agent AS agent ON agent.id = waiting.agent_id
LEFT JOIN (
    SELECT lease.agent_id, CASE WHEN NOT run.private THEN attempt.trial_id END AS trial_id,
        CASE WHEN NOT run.private THEN attempt.run_id END AS run_id
    FROM results_lease AS lease
    JOIN results_attempt AS attempt ON attempt.id = lease.attempt_id
    JOIN results_run AS run ON run.id = attempt.run_id
) AS lease ON lease.agent_id = agent.id
WHERE NOT agent.enabled OR agent.state <> 'ready' OR lease.agent_id IS NOT NULL
ORDER BY waiting.run_id, agent.name
