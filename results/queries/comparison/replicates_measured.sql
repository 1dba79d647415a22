-- Values of one metric, as stored.
WITH measured AS (
    SELECT attempt_id, node, label, value
    FROM results_measurement
    WHERE run_id = ANY(%(runs)s) AND metric_id = %(metric)s
)
