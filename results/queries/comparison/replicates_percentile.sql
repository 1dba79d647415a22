-- One percentile of the exact latencies of every counted trial, all clients together: the smallest latency with at
-- least so many percent of the transactions at or below it (as `results.domain.measurement.histogram` has it).
WITH seen AS (
    SELECT histogram.attempt_id, histogram.label, bar.latency_us, sum(bar.count) AS count
    FROM results_trial AS trial
    JOIN results_histogram AS histogram ON histogram.attempt_id = trial.attempt_id
    CROSS JOIN LATERAL unnest(histogram.latencies_us, histogram.counts) AS bar (latency_us, count)
    WHERE trial.run_id = ANY(%(runs)s) AND trial.state = 'done'
        AND trial.configuration_id = ANY(%(configurations)s::bigint[])
    GROUP BY histogram.attempt_id, histogram.label, bar.latency_us
), ranked AS (
    SELECT
        attempt_id, label, latency_us,
        sum(count) OVER (PARTITION BY attempt_id, label ORDER BY latency_us) AS rank,
        sum(count) OVER (PARTITION BY attempt_id, label) AS total
    FROM seen
), measured AS (
    SELECT attempt_id, '' AS node, label, min(latency_us)::double precision AS value
    FROM ranked
    WHERE rank >= ceil(total * %(percent)s::numeric / 100)
    GROUP BY attempt_id, label
)
