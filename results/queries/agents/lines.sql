-- Agents that are not archived, by name, each with what its lease is for, its installations and the host factors that are not
-- at their own values. Of a private run nobody is told which one it is.
SELECT agent.name, agent.host, agent.port, agent.enabled, agent.state, agent.facts_at, agent.cores, agent.memory_bytes,
    agent.disk::json AS disk,
    CASE WHEN trial.id IS NOT NULL THEN json_build_object(
        'run_id', CASE WHEN NOT run.private THEN run.id END,
        'trial_id', CASE WHEN NOT run.private THEN trial.id END,
        'phase', trial.phase
    ) END AS busy,
    ARRAY(
        SELECT json_build_object('name', name, 'present', present)
        FROM results_installation
        WHERE agent_id = agent.id
        ORDER BY version_num DESC, name
    ) AS installations,
    ARRAY(
        SELECT json_build_object(
            'factor', factor, 'running', trial.id IS NOT NULL AND trial_id IS NOT DISTINCT FROM trial.id AND error = ''
        )
        FROM results_hostchange
        WHERE agent_id = agent.id
        ORDER BY since, factor
    ) AS not_back
FROM results_agent AS agent
LEFT JOIN results_lease AS lease ON lease.agent_id = agent.id
LEFT JOIN results_attempt AS attempt ON attempt.id = lease.attempt_id
LEFT JOIN results_trial AS trial ON trial.id = attempt.trial_id
LEFT JOIN results_run AS run ON run.id = trial.run_id
WHERE NOT agent.archived
ORDER BY agent.name
