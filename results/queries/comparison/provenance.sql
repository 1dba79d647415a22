-- Of each attempt its trial, its run, its raw output, and the hash of what it ran in.
SELECT
    attempt.id AS attempt_id,
    attempt.trial_id,
    attempt.run_id,
    attempt.measured_from,
    attempt.bundle_sha256,
    attempt.environment
FROM results_attempt AS attempt
WHERE attempt.id = ANY(%(attempts)s::bigint[])
ORDER BY attempt.id
