-- Labels of one metric, by the place at which these attempts reported them.
SELECT label
FROM (
    SELECT label, row_number() OVER (PARTITION BY attempt_id ORDER BY id) AS place
    FROM results_measurement
    WHERE attempt_id = ANY(%(attempts)s) AND metric_id = %(metric)s
) AS reported
GROUP BY label
ORDER BY min(place), label
