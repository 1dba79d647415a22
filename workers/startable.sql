-- Every set of agents that is free and that a trial waits for, with the first of these trials: its run has started, its
-- time has come, every agent is ready and without a lease. `agent` is the set's first. A trial without agents was measured
-- elsewhere, and never runs.
--
-- The sets are those that begin with a free agent, found one by one in the index of waiting trials: the time depends on
-- the free agents, not on the trials that wait.
WITH RECURSIVE free AS MATERIALIZED (
    SELECT a.id
      FROM results_agent a
     WHERE a.enabled
       AND a.state = 'ready'
       AND NOT EXISTS (SELECT FROM results_lease l WHERE l.agent_id = a.id)
), awaited (agent, agents) AS (
    SELECT free.id, t.agents
      FROM free
     CROSS JOIN LATERAL (SELECT agents
                           FROM results_trial
                          WHERE state = 'waiting' AND agents >= ARRAY[free.id] AND agents < ARRAY[free.id + 1]
                          ORDER BY agents
                          LIMIT 1) AS t
     UNION ALL
    SELECT awaited.agent, t.agents
      FROM awaited
     CROSS JOIN LATERAL (SELECT agents
                           FROM results_trial
                          WHERE state = 'waiting' AND agents > awaited.agents AND agents < ARRAY[awaited.agent + 1]
                          ORDER BY agents
                          LIMIT 1) AS t
), startable AS (
    SELECT t.id, t.run_id, t.position, awaited.agent
      FROM awaited
     CROSS JOIN LATERAL (SELECT trial.id, trial.run_id, trial.position
                           FROM results_trial trial
                           JOIN results_run run ON run.id = trial.run_id
                          WHERE trial.state = 'waiting'
                            AND trial.agents = awaited.agents
                            AND run.state = 'running'
                            AND (trial.not_before IS NULL OR trial.not_before <= %(now)s)
                          ORDER BY trial.run_id, trial.position
                          LIMIT 1) AS t
     WHERE NOT EXISTS (SELECT FROM unnest(awaited.agents) AS needed WHERE needed NOT IN (SELECT id FROM free))
)
