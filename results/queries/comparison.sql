-- Every value of the runs' trials that count, as arrays: `value` of `measured`, node and label where they are asked for;
-- then the trials that count, by their `attempt`; then all attempts, with a number that is the same for those that ran in
-- the same environment. Whoever asks puts them together: that takes a fraction of the time that a join takes here, where
-- nobody knows how many there will be. Values are divided by what `per` names; a trial of which that is not known has none.
, divided AS (
    SELECT
        attempt_id, node, label,
        value / CASE %(per)s
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
        END AS value
    FROM measured
    WHERE %(configurations)s::bigint[] IS NULL OR attempt_id IN (
        SELECT attempt_id FROM results_trial
        WHERE run_id = ANY(%(runs)s) AND configuration_id = ANY(%(configurations)s) AND attempt_id IS NOT NULL
    )
), measured_values AS (
    SELECT
        array_send(array_agg(attempt_id)) AS measured,
        array_send(array_agg(value)) AS value,
        CASE WHEN 'node' = ANY(%(own)s) THEN array_agg(node) END AS node,
        CASE WHEN 'label' = ANY(%(own)s) THEN array_agg(label) END AS label
    FROM divided
    WHERE value IS NOT NULL
), trials AS (
    SELECT
        array_send(array_agg(configuration_id)) AS configuration,
        array_send(array_agg(id)) AS trial,
        array_send(array_agg(attempt_id)) AS attempt,
        array_send(array_agg(block)) AS block,
        array_send(array_agg(position)) AS position
    FROM results_trial
    WHERE run_id = ANY(%(runs)s) AND state = 'done' AND attempt_id IS NOT NULL
        AND (%(configurations)s::bigint[] IS NULL OR configuration_id = ANY(%(configurations)s))
        AND (%(attempts)s::bigint[] IS NULL OR attempt_id = ANY(%(attempts)s))
), ran AS (
    SELECT
        array_send(array_agg(id)) AS ran,
        array_send(array_agg(hashtextextended(environment, 0))) AS environment
    FROM results_attempt
    WHERE run_id = ANY(%(runs)s)
)
SELECT * FROM measured_values CROSS JOIN trials CROSS JOIN ran
