-- How many trials of runs that have not ended run, wait, or wait for the time of their run.
SELECT
    CASE WHEN t.state = 'waiting' AND r.state = 'scheduled' THEN 'scheduled' ELSE t.state END AS state,
    count(*) AS count
FROM results_run r
JOIN results_trial t ON t.run_id = r.id
WHERE r.state IN ('running', 'scheduled') AND t.state IN ('waiting', 'running')
GROUP BY 1
ORDER BY 1
