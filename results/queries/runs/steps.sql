-- Labelled times of one attempt that add up to a whole: their metric has a total, or is what another one is made of.
SELECT metric.name AS metric, metric.label AS label_of_metric, metric.unit, metric.label_noun AS noun,
    measurement.node, measurement.label, measurement.value
FROM results_measurement AS measurement JOIN results_metric AS metric ON metric.name = measurement.metric_id
WHERE measurement.attempt_id = %(attempt_id)s AND metric.unit = 's' AND (
    metric.whole = %(total)s
    OR EXISTS (
        SELECT FROM results_metric AS made_of JOIN results_measurement AS its ON its.metric_id = made_of.name
        WHERE made_of.parts = metric.name AND made_of.name <> metric.name AND its.attempt_id = %(attempt_id)s
    )
)
ORDER BY metric.name, measurement.node, measurement.id
