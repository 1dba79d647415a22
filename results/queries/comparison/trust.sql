-- One row an attempt: how long it measured, on whose host its clients ran, how busy those hosts were, and how its seconds
-- ran. A host that nobody watched, or a trial that Teiten did not measure, has nulls.
WITH counted AS (
    SELECT
        attempt.id, attempt.trial_id, attempt.run_id, attempt.measured_from, attempt.measured_to,
        -- one by one: joined to thousands of attempts, all trials of the warehouse would be scanned
        (SELECT configuration_id FROM results_trial WHERE results_trial.id = attempt.trial_id) AS configuration_id
    FROM results_attempt AS attempt
    WHERE attempt.id = ANY(%(attempts)s::bigint[])
),
setup AS (
    SELECT
        configuration.id,
        configuration.dimensions ->> 'cache' = 'cold' AS cold,
        (configuration.dimensions ->> 'duration_s')::float8 AS planned_s,
        (configuration.dimensions ->> 'warmup_s')::float8 AS warmup_s,
        configuration.spec -> 'agents' AS agents, played.clients, played.servers
    FROM results_configuration AS configuration
    CROSS JOIN LATERAL (
        SELECT
            array_agg(agent) FILTER (WHERE role LIKE 'client%%') AS clients,
            array_agg(agent) FILTER (
                WHERE role NOT LIKE 'client%%' AND NOT coalesce(configuration.spec -> 'outside', '[]') ? role
            ) AS servers
        FROM jsonb_each_text(configuration.spec -> 'agents') AS roles (role, agent)
    ) AS played
    WHERE configuration.id IN (SELECT configuration_id FROM counted)
),
measured AS (
    SELECT
        measurement.attempt_id,
        max(value) FILTER (WHERE metric_id = 'cpu.busy' AND agent = ANY(setup.clients)) AS client_busy,
        max(value) FILTER (WHERE metric_id = 'cpu.busy' AND agent = ANY(setup.servers)) AS server_busy,
        max(value) FILTER (WHERE metric_id = 'steady.variation') AS variation,
        max(abs(value)) FILTER (WHERE metric_id = 'steady.trend') AS trend,
        max(abs(value)) FILTER (WHERE metric_id = 'steady.start') AS start
    FROM results_measurement AS measurement
    JOIN counted ON counted.id = measurement.attempt_id
    JOIN setup ON setup.id = counted.configuration_id
    CROSS JOIN LATERAL (SELECT setup.agents ->> measurement.node AS agent) AS host
    WHERE measurement.run_id = ANY(%(runs)s) AND measurement.label = ''
        AND measurement.metric_id IN ('cpu.busy', 'steady.variation', 'steady.trend', 'steady.start')
    GROUP BY measurement.attempt_id
)
SELECT
    counted.id AS attempt_id, counted.trial_id,
    CASE WHEN measured_from IS NOT NULL THEN extract(epoch FROM measured_to - measured_from)::float8 END AS seconds,
    setup.planned_s, setup.warmup_s, setup.cold,
    to_char(measured_from AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    setup.clients && setup.servers AS shares_host,
    client_busy, server_busy, variation, trend, start
FROM counted
JOIN setup ON setup.id = counted.configuration_id
LEFT JOIN measured ON measured.attempt_id = counted.id
ORDER BY counted.id
