-- One row an attempt of the two configurations: its place, and what it could not gather.
SELECT
    attempt.id AS attempt_id, attempt.number, trial.id AS trial_id, trial.run_id, trial.block, trial.configuration_id,
    attempt.gaps::json AS gaps,
    coalesce((configuration.spec -> 'collectors')::json, '[]') AS collectors,
    run.publication_id IS NOT NULL AS published,
    EXISTS (
        SELECT FROM results_document WHERE attempt_id = attempt.id AND kind = 'stacks'
    ) AS stacks
FROM results_attempt AS attempt
JOIN results_trial AS trial ON trial.id = attempt.trial_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_run AS run ON run.id = trial.run_id
WHERE attempt.id = ANY(%(attempts)s)
