-- Values of one metric, as stored.
WITH measured AS (
    SELECT attempt_id, node, label, value
    FROM results_measurement
    WHERE run_id = ANY(%(runs)s) AND metric_id = %(metric)s
        AND (%(nodes)s::text[] IS NULL OR node = ANY(%(nodes)s))
        AND (%(labels)s::text[] IS NULL OR label = ANY(%(labels)s))
)
