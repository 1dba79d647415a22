-- What metrics mean, by name: of those that only private runs have measured the ones of runs that the viewer sees.
SELECT name, unit, better, label, help, minimum_effect, parts, whole, client_overhead, label_noun
FROM results_metric
WHERE NOT private OR name IN (
    SELECT measured.metric_id
    FROM results_run AS run
    JOIN results_measurement AS measured ON measured.run_id = run.id
    WHERE run.private
)
ORDER BY name
