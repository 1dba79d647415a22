-- One reference: the runs and attempts whose numbers its line holds, and which of these count no more, or have been read
-- again without the metric that it was saved with. A percentile that is not stored is computed of the latencies.
WITH line AS (
    SELECT
        reference.name, reference.series, reference.snapshot_id AS hash,
        coalesce(snapshot.content #>> '{selection,series}', '') AS dimensions,
        snapshot.content #>> '{selection,metric}' AS metric,
        (replicate ->> 2)::bigint AS run_id, (replicate ->> 1)::bigint AS attempt_id
    FROM results_reference AS reference
    JOIN results_snapshot AS snapshot ON snapshot.hash = reference.snapshot_id
    CROSS JOIN LATERAL jsonb_array_elements(snapshot.content -> 'points') AS point
    CROSS JOIN LATERAL jsonb_array_elements(point -> 'values') AS replicate
    WHERE reference.name = %(name)s AND point ->> 'series' = reference.series
)
SELECT
    line.name, line.series, line.hash, line.dimensions,
    array_agg(DISTINCT line.run_id) AS runs,
    array_agg(DISTINCT line.attempt_id) AS attempts,
    coalesce(array_agg(DISTINCT line.attempt_id) FILTER (WHERE counted.id IS NULL OR NOT (
        EXISTS (
            SELECT FROM results_measurement
            WHERE attempt_id = line.attempt_id AND run_id = line.run_id AND metric_id = line.metric
        ) OR line.metric LIKE 'latency.p%%' AND EXISTS (
            SELECT FROM results_packedhistogram WHERE run_id = line.run_id AND attempt_id = line.attempt_id
            UNION ALL SELECT FROM results_detachedrange WHERE first_run = line.run_id / 1000 * 1000
        )
    )), '{}') AS lost
FROM line
LEFT JOIN results_trial AS counted ON counted.attempt_id = line.attempt_id AND counted.state = 'done'
GROUP BY line.name, line.series, line.hash, line.dimensions
