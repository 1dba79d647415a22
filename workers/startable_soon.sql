-- The first trial that may run now, as startable.sql has it, if it is among the first of all that wait: while many agents
-- are free it is, and need not be looked for by all of them.
SELECT t.id, t.run_id, t.agents
  FROM (SELECT trial.id, trial.run_id, trial.position
          FROM results_trial trial
          JOIN results_run run ON run.id = trial.run_id
         WHERE trial.state = 'waiting'
           AND run.state = 'running'
         ORDER BY trial.run_id, trial.position
         LIMIT %(most)s) AS head
  JOIN results_trial t ON t.id = head.id
 WHERE t.state = 'waiting'
   AND (t.not_before IS NULL OR t.not_before <= %(now)s)
   AND t.agents <> '{}'
   AND NOT EXISTS (SELECT
                     FROM unnest(t.agents) AS agent (id)
                    WHERE agent.id NOT IN (SELECT id FROM results_agent WHERE enabled AND state = 'ready')
                       OR agent.id IN (SELECT agent_id FROM results_lease))
 ORDER BY head.run_id, head.position
 LIMIT 1
   FOR UPDATE OF t SKIP LOCKED
