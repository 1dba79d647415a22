-- Prolong the leases of attempts that still run and are these workers'; what each worker is to know of its own.
WITH asked AS (
    SELECT DISTINCT attempt, worker
      FROM unnest(%(attempts)s::bigint[], %(workers)s::text[]) AS pair (attempt, worker)
), prolonged AS (
    UPDATE results_lease l
       SET heartbeat_at = %(now)s, expires_at = %(expires)s
      FROM asked
      JOIN results_attempt a ON a.id = asked.attempt AND a.state = 'running' AND a.worker = asked.worker
     WHERE l.attempt_id = asked.attempt
    RETURNING asked.attempt, asked.worker
)
SELECT asked.attempt, asked.worker,
       CASE WHEN (asked.attempt, asked.worker) IN (SELECT attempt, worker FROM prolonged)
            THEN CASE WHEN t.state = 'cancelled' THEN 'cancelled' ELSE 'kept' END
            WHEN a.state = 'running' AND a.worker <> asked.worker THEN 'taken'
            ELSE 'lost' END AS state
  FROM asked
  LEFT JOIN results_attempt a ON a.id = asked.attempt
  LEFT JOIN results_trial t ON t.id = a.trial_id
