-- What the numbers of these trials rest on, of each trial that counts.
SELECT
    trial.id, trial.run_id, attempt.id AS attempt_id,
    configuration.index AS configuration, trial.block,
    coalesce(configuration.dimensions ->> 'version', '') AS version,
    coalesce(configuration.spec -> 'agents', '{}')::json AS agents,
    attempt.measured_from, attempt.measured_to, attempt.environment, attempt.bundle_sha256,
    json_build_object(
        'id', run.id, 'name', run.name, 'workload', run.workload, 'standing', run.standing, 'seed', run.seed,
        'plan_id', run.plan_id, 'plan_hash', run.plan_hash, 'started_at', run.started_at, 'ended_at', run.ended_at,
        'publication', publication.slug, 'source', CASE
            WHEN publication.program <> '' THEN 'imported'
            WHEN publication.id IS NOT NULL THEN 'published'
            WHEN transfer.run_id IS NOT NULL THEN 'another-teiten'
            ELSE 'measured'
        END, 'program', coalesce(publication.program, '')
    ) AS run
FROM results_trial AS trial
JOIN results_attempt AS attempt ON attempt.id = trial.attempt_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
JOIN results_run AS run ON run.id = trial.run_id
LEFT JOIN results_publication AS publication ON publication.id = run.publication_id
LEFT JOIN results_runimport AS transfer ON transfer.run_id = run.id
WHERE trial.id = ANY(%(trials)s::bigint[]) AND trial.state = 'done'
ORDER BY trial.id
