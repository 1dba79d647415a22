-- A run of 1,000 configurations (20 numbers of clients, 5 scales, 5 scripts, 2 installations) × 20 blocks that goes on: 14
-- blocks are done but for every hundredth trial, which failed, 8 trials run, the others wait. Vacuumed, as a warehouse at
-- rest is.
INSERT INTO results_metric (name, unit, better, label, help, minimum_effect)
SELECT name, unit, better, name, '', 0.02
FROM (VALUES
    ('tps', 'tps', 'higher'), ('latency.mean', 'us', 'lower'), ('latency.p50', 'us', 'lower'),
    ('latency.p95', 'us', 'lower'), ('latency.p99', 'us', 'lower'), ('cpu.user', '%%', 'neither'),
    ('cpu.system', '%%', 'neither'), ('wal.bytes', 'B', 'lower'), ('transactions', '1', 'higher')
) AS metric (name, unit, better);

INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at,
    started_at)
SELECT 20000, 'large', 'pgbench', 'tps', '', json_build_array(
    json_build_object('name', 'installation', 'levels', ARRAY['postgresql-17.6', 'postgresql-18.1']),
    json_build_object('name', 'script', 'levels', ARRAY['tpcb-like', 'select-only', 'simple-update', 'own', 'batch']),
    json_build_object('name', 'scale', 'levels', ARRAY['10', '50', '100', '500', '1000']),
    json_build_object('name', 'clients', 'levels', ARRAY(SELECT (4 * n)::text FROM generate_series(1, 20) AS n))
), '', 1, 20, 'running', now(), now();

INSERT INTO results_configuration (run_id, index, name, levels, spec, dimensions)
SELECT
    20000, index, 'configuration ' || index, levels, '{}', levels || jsonb_build_object(
        'workload', 'pgbench', 'topology', 'single', 'version', substr(levels ->> 'installation', 12),
        'major', substr(levels ->> 'installation', 12, 2), 'access_method', 'heap', 'data', 'reuse', 'cache', 'warm',
        'threads', 4, 'duration_s', 60, 'warmup_s', 10, 'agent.primary', 'db1', 'agent.client', 'load1',
        'mode', 'prepared', 'setting.shared_buffers', '8GB'
    )
FROM generate_series(0, 999) AS index
CROSS JOIN LATERAL (SELECT jsonb_build_object(
    'installation', (ARRAY['postgresql-17.6', 'postgresql-18.1'])[1 + index / 500],
    'script', (ARRAY['tpcb-like', 'select-only', 'simple-update', 'own', 'batch'])[1 + index / 100 %% 5],
    'scale', (ARRAY['10', '50', '100', '500', '1000'])[1 + index / 20 %% 5],
    'clients', (4 * (1 + index %% 20))::text
)) AS factor (levels);

INSERT INTO results_trial (run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase,
    phase_at, expected_s, error)
SELECT
    run_id, configuration_id, block, position, '{1}',
    CASE WHEN position >= 14008 THEN 'waiting' WHEN position >= 14000 THEN 'running'
        WHEN position %% 100 = 99 THEN 'failed' ELSE 'done' END,
    now(), CASE WHEN position >= 14008 THEN 0 ELSE 1 END,
    CASE WHEN position BETWEEN 14000 AND 14007 THEN 'measure' ELSE '' END,
    CASE WHEN position BETWEEN 14000 AND 14007 THEN now() END,
    CASE WHEN position BETWEEN 14000 AND 14007 THEN 3600 END,
    CASE WHEN position < 14000 AND position %% 100 = 99
        THEN json_build_object('message', 'pgbench was aborted at transaction ' || position) END
FROM (
    SELECT configuration.run_id, configuration.id AS configuration_id, block,
        row_number() OVER (ORDER BY block, md5(configuration.index || ' ' || block)) - 1 AS position
    FROM results_configuration AS configuration CROSS JOIN generate_series(1, 20) AS block
    WHERE configuration.run_id = 20000
) AS trial
ORDER BY position;

INSERT INTO results_attempt (run_id, trial_id, number, state, worker, started_at, ended_at, bundle, bundle_sha256,
    environment, phases, commands, checks, files, events, gaps, notes)
SELECT run_id, id, 1, state, '', now(), CASE WHEN state <> 'running' THEN now() + interval '70 s' END, '', '', '',
    '[]', '[]', '[]', '[]', '[]', '[]', '{}'
FROM results_trial WHERE run_id = 20000 AND state <> 'waiting' ORDER BY id;

UPDATE results_trial AS trial SET attempt_id = attempt.id
FROM results_attempt AS attempt
WHERE trial.run_id = 20000 AND attempt.trial_id = trial.id AND trial.state = 'done';

INSERT INTO results_measure (metric_id, node, label)
VALUES
    ('tps', '', ''), ('latency.mean', '', ''), ('latency.p50', '', ''), ('latency.p95', '', ''), ('latency.p99', '', ''),
    ('cpu.user', 'primary', ''), ('cpu.user', 'client', ''), ('cpu.system', 'primary', ''), ('wal.bytes', 'primary', ''),
    ('transactions', '', '')
ON CONFLICT DO NOTHING;

SELECT setseed(0.5);
INSERT INTO results_attemptvalues (run_id, attempt_id, measures, values)
SELECT
    trial.run_id, trial.attempt_id, array_agg(measure.id ORDER BY measure.id),
    array_agg(
        round((metric.size * (5 + configuration.index %% 40) * (1 + 0.04 * (configuration.index %% 2))
            * exp(0.02 * (random() + random() + random() + random() - 2) * 1.7))::numeric, 6)
        ORDER BY measure.id
    )
FROM results_trial AS trial
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
CROSS JOIN (VALUES
    ('tps', '', 1000), ('latency.mean', '', 100), ('latency.p50', '', 80), ('latency.p95', '', 200),
    ('latency.p99', '', 300), ('cpu.user', 'primary', 1), ('cpu.user', 'client', 1), ('cpu.system', 'primary', 1),
    ('wal.bytes', 'primary', 1e6), ('transactions', '', 60000)
) AS metric (name, node, size)
JOIN results_measure AS measure
    ON measure.metric_id = metric.name AND measure.node = metric.node AND measure.label = ''
WHERE trial.run_id = 20000 AND trial.state = 'done'
GROUP BY trial.run_id, trial.id;

VACUUM ANALYZE
