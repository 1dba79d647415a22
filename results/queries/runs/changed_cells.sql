-- One row a trial of some configurations of one run that may have changed since the snapshot whose oldest open transaction
-- was `since`: its row, or that of the attempt that counts, was written by that transaction or by a later one.
SELECT configuration.index AS configuration, trial.id AS trial_id
FROM results_configuration AS configuration
JOIN results_trial AS trial ON trial.configuration_id = configuration.id
LEFT JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
WHERE configuration.run_id = %(run_id)s AND configuration.index = ANY(%(configurations)s::bigint[])
    AND least(age(trial.xmin), age(attempt.xmin)) <= age(%(since)s::text::xid8::xid)
