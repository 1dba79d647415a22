SELECT
    agent.name AS agent,
    CASE WHEN lease.attempt_id IS NULL THEN 'contact' ELSE 'trial' END AS purpose,
    lease.acquired_at,
    lease.heartbeat_at
FROM results_lease AS lease
JOIN results_agent AS agent ON agent.id = lease.agent_id
ORDER BY agent.name
