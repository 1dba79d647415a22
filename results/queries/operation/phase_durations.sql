-- How long each phase took in the attempts that are done, at the trials that ended since a time.
SELECT
    phase.name AS phase,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY phase.seconds) AS median_s,
    max(phase.seconds) AS max_s
FROM results_trial t
JOIN results_attempt a ON a.id = t.attempt_id
CROSS JOIN LATERAL jsonb_to_recordset(a.phases) AS phase (name text, seconds float8)
WHERE t.state <> 'waiting'
  AND t.state = 'done'
  AND t.state_at >= %(since)s
  AND t.agents <> '{}'
GROUP BY phase.name
ORDER BY phase.name
