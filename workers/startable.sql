-- How many attempts wait to be picked up, and how many agents are ready and without a lease, and have a trial whose run
-- has started and whose time has come.
SELECT (SELECT count(*)
          FROM results_attempt
         WHERE state = 'running' AND left_at IS NOT NULL) AS left,
       (SELECT count(*)
          FROM results_agent a
         WHERE a.enabled
           AND a.state = 'ready'
           AND NOT EXISTS (SELECT FROM results_lease l WHERE l.agent_id = a.id)
           AND a.id IN (SELECT unnest(t.agents)
                          FROM results_trial t
                          JOIN results_run r ON r.id = t.run_id
                         WHERE t.state = 'waiting'
                           AND r.state = 'running'
                           AND (t.not_before IS NULL OR t.not_before <= %(now)s))) AS agents
