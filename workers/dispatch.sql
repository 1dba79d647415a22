-- The first trial that may run now: its run has started, its time has come, every agent is ready and without a lease. A
-- trial without agents was measured elsewhere, and never runs.
SELECT t.id, t.agents
  FROM results_trial t
  JOIN results_run r ON r.id = t.run_id
 WHERE t.state = 'waiting'
   AND r.state = 'running'
   AND (t.not_before IS NULL OR t.not_before <= %(now)s)
   AND t.agents <> '{}'
   AND NOT EXISTS (SELECT FROM results_lease l WHERE l.agent_id = ANY (t.agents))
   AND cardinality(t.agents) = (SELECT count(*) FROM results_agent a
                                 WHERE a.id = ANY (t.agents) AND a.enabled AND a.state = 'ready')
 ORDER BY r.id, t.position
 LIMIT 1
   FOR UPDATE OF t SKIP LOCKED
