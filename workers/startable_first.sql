-- The first of them, in the order of the runs and of the run.
SELECT t.id, t.run_id, t.agents
  FROM startable
  JOIN results_trial t ON t.id = startable.id
 WHERE t.state = 'waiting'
 ORDER BY startable.run_id, startable.position
 LIMIT 1
   FOR UPDATE OF t SKIP LOCKED
