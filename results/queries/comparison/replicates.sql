-- The values of `measured` that are numbers, of trials that count: a row a configuration, node and label, its trials in no
-- order. Values are divided by what `per` names; a trial of which that is not known has none.
, divided AS MATERIALIZED (  -- else its filter on `value` is taken to leave one row, and trials are looked up one by one
    SELECT
        trial.id AS trial_id, trial.attempt_id, trial.run_id, trial.block,
        measured.value / CASE %(per)s
            WHEN 'core' THEN coalesce((
                SELECT cardinality(string_to_array(
                    coalesce(layer.content #>> '{cpus,list}', layer.content #>> '{cpus,lists,primary}'), ','))
                FROM results_layeruse AS used
                JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'host'
                WHERE used.attempt_id = measured.attempt_id
                    AND (layer.content #> '{cpus,lists,primary}' IS NOT NULL
                        OR layer.content #> '{cpus,list}' IS NOT NULL)
                ORDER BY used.node <> 'primary'  -- elsewhere it is filed under another server of that machine
                LIMIT 1
            ), (
                SELECT nullif((layer.content #>> '{cpu,usable}')::double precision, 0)
                FROM results_layeruse AS used
                JOIN results_layer AS layer ON layer.hash = used.layer_id AND layer.kind = 'hardware'
                WHERE used.attempt_id = measured.attempt_id AND used.node = 'primary'
            ))
            WHEN 'transaction' THEN (
                -- of the whole trial; a node's numbers are not of all of them where a server, or a pooler, is counted
                -- that had others than these: a part, or reads beside the workload
                SELECT CASE
                    WHEN measured.node = '' OR (max(counted.value) FILTER (WHERE counted.node = '') <> ANY(
                        array_agg(counted.value) FILTER (WHERE counted.node !~ '^(client|set)'))) IS NOT TRUE
                    THEN nullif(max(counted.value) FILTER (WHERE counted.node = ''), 0)
                END
                FROM results_measurement AS counted
                WHERE counted.attempt_id = measured.attempt_id
                    AND counted.metric_id = 'transactions' AND counted.label = ''
            )
            ELSE 1
        END AS value,
        trial.configuration_id, trial.position, measured.node, measured.label
    FROM measured
    JOIN results_trial AS trial ON trial.attempt_id = measured.attempt_id
    WHERE trial.run_id = ANY(%(runs)s) AND trial.state = 'done'
        AND trial.configuration_id = ANY(%(configurations)s::bigint[])
        AND (%(attempts)s::bigint[] IS NULL OR trial.attempt_id = ANY(%(attempts)s))
)
SELECT
    configuration_id, run_id, node, label,
    array_agg(trial_id) AS trials, array_agg(attempt_id) AS attempts, array_agg(block) AS blocks,
    array_agg(position) AS positions, array_agg(value) AS values
FROM divided
WHERE value > '-infinity' AND value < 'infinity'  -- which NaN is not
GROUP BY configuration_id, run_id, node, label
