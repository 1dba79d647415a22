-- How many attempts wait to be picked up, and how many trials could start at once, at most.
SELECT (SELECT count(*)
          FROM results_attempt
         WHERE state = 'running' AND left_at IS NOT NULL) AS left,
       (SELECT count(DISTINCT agent) FROM startable) AS agents
