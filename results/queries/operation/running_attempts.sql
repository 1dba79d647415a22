-- Of the attempts that have not ended: how many there are, wait for another worker, and are archived but not stored.
SELECT
    count(*) AS count,
    count(*) FILTER (WHERE a.left_at IS NOT NULL) AS left,
    count(*) FILTER (WHERE a.bundle <> '' AND a.ingested_at IS NULL) AS unstored,
    min(t.phase_at) FILTER (WHERE a.bundle <> '' AND a.ingested_at IS NULL) AS unstored_since
FROM results_attempt a
JOIN results_trial t ON t.id = a.trial_id
WHERE a.state = 'running'
