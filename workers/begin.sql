-- A trial begins; how many attempts it has had.
UPDATE results_trial t
   SET state = 'running', state_at = %(now)s, attempts_made = attempts_made + 1, phase = '', error = NULL
 WHERE id = %(trial)s
RETURNING (SELECT count(*) FROM results_attempt a WHERE a.trial_id = t.id) AS attempts
