-- Attempts at the trials that ended since a time, by their state and kind of error. A trial without agents was measured
-- elsewhere.
SELECT
    a.state,
    coalesce(a.error ->> 'kind', '') AS error,
    count(*) AS count,
    count(*) FILTER (WHERE a.bundle <> '' AND a.ingested_at IS NULL) AS unstored,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM a.ended_at - a.started_at)::float8) AS median_s,
    max(extract(epoch FROM a.ended_at - a.started_at)::float8) AS max_s
FROM results_trial t
JOIN results_attempt a ON a.trial_id = t.id
WHERE t.state <> 'waiting'
  AND t.state <> 'running'
  AND t.state_at >= %(since)s
  AND t.agents <> '{}'
  AND t.attempts_made > 0
  AND a.ended_at IS NOT NULL
GROUP BY a.state, 2
ORDER BY a.state, 2
