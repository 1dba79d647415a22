-- The first trial that was read of each file of an import.
SELECT file ->> 'path' AS name, min(trial.id) AS trial_id
FROM results_trial AS trial
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
CROSS JOIN LATERAL jsonb_array_elements(attempt.files) AS file
WHERE trial.run_id = %(run_id)s
GROUP BY name
