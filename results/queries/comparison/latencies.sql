-- The exact latencies of every counted trial, one row a client and script.
SELECT histogram.attempt_id, histogram.label, histogram.latencies_us, histogram.counts
FROM results_trial AS trial
JOIN results_packedhistogram AS histogram
    ON histogram.run_id = trial.run_id AND histogram.attempt_id = trial.attempt_id
WHERE trial.run_id = ANY(%(runs)s) AND histogram.run_id = ANY(%(runs)s) AND trial.state = 'done'
    AND trial.configuration_id = ANY(%(configurations)s::bigint[])
