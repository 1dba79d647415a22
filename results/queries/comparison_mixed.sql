-- Dimensions that vary within a cell: another value, or absent from some of the cell's configurations.
, measured AS (
    SELECT DISTINCT chosen.x, chosen.series, chosen.rest
    FROM chosen
    WHERE EXISTS (SELECT FROM results_trial WHERE configuration_id = chosen.id AND state = 'done')
)
SELECT DISTINCT dimension.key AS name
FROM (SELECT *, count(*) OVER (PARTITION BY x, series) AS configurations FROM measured) AS counted
CROSS JOIN LATERAL jsonb_each_text(counted.rest) AS dimension
GROUP BY counted.x, counted.series, counted.configurations, dimension.key
HAVING count(DISTINCT dimension.value) > 1
    OR (count(*) < counted.configurations AND min(dimension.value) <> 'default')
ORDER BY name
