-- A warehouse of 200,000 trials: ten runs of 970 configurations × 20 blocks, and one of 1,000 (20 numbers of clients,
-- 5 scales, 5 scripts, 2 installations) × 6. Values spread by some two per cent and have six decimals, as pgbench prints them.
-- Vacuumed, as a warehouse at rest is: else autovacuum works beside the measurement.
INSERT INTO results_metric (name, unit, better, label, help, minimum_effect)
SELECT name, unit, better, name, '', 0.02
FROM (VALUES
    ('tps', 'tps', 'higher'), ('latency.mean', 'us', 'lower'), ('latency.p50', 'us', 'lower'),
    ('latency.p95', 'us', 'lower'), ('latency.p99', 'us', 'lower'), ('cpu.user', '%%', 'neither'),
    ('cpu.system', '%%', 'neither'), ('wal.bytes', 'B', 'lower'), ('transactions', '1', 'higher')
) AS metric (name, unit, better);

INSERT INTO results_layer (hash, kind, content, first_seen_at)
SELECT lpad(to_hex(number), 64, '0'), kind, jsonb_build_object('number', number, 'setting', repeat('x', 400)), now()
FROM generate_series(0, 79) AS number
CROSS JOIN LATERAL (SELECT (
    ARRAY['hardware', 'kernel', 'build', 'settings', 'access_method', 'topology', 'storage', 'client']
)[1 + number %% 8]) AS one (kind);

INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at,
    started_at, ended_at)
SELECT id, 'run ' || id, 'pgbench', 'tps', '', '[]', '', 1, CASE id WHEN 11 THEN 6 ELSE 20 END, 'done',
    now(), now(), now()
FROM generate_series(1, 11) AS id;

INSERT INTO results_configuration (run_id, index, name, levels, spec, dimensions)
SELECT
    run.id, index, 'configuration ' || index,
    levels, '{"agents": {"primary": "db1", "client": "load1"}}', levels || jsonb_build_object(
        'workload', 'pgbench', 'topology', 'single', 'version', CASE index %% 2 WHEN 0 THEN '17.6' ELSE '18.1' END,
        'major', CASE index %% 2 WHEN 0 THEN '17' ELSE '18' END, 'access_method', 'heap', 'data', 'reuse',
        'cache', 'warm', 'threads', 4, 'duration_s', 60, 'warmup_s', 10, 'initdb', '', 'collectors', 'pg_stat, sar',
        'agent.primary', 'db1', 'agent.client', 'load1', 'mode', 'prepared', 'setting.shared_buffers', '8GB',
        'setting.max_wal_size', '64GB', 'setting.checkpoint_timeout', '30min'
    )
FROM results_run AS run
CROSS JOIN LATERAL generate_series(0, CASE run.id WHEN 11 THEN 999 ELSE 969 END) AS index
CROSS JOIN LATERAL (SELECT jsonb_build_object(
    'installation', CASE index %% 2 WHEN 0 THEN 'postgresql-17.6' ELSE 'postgresql-18.1' END,
    'clients', 4 * (1 + index / 2 %% 20),
    'scale', (ARRAY[10, 50, 100, 500, 1000])[1 + index / 40 %% 5],
    'script', (ARRAY['tpcb-like', 'select-only', 'simple-update', 'own', 'batch'])[1 + index / 200 %% 5]
)) AS factor (levels);

INSERT INTO results_trial (run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase)
SELECT
    configuration.run_id, configuration.id, block,
    row_number() OVER (PARTITION BY configuration.run_id ORDER BY block, md5(configuration.id || ' ' || block)) - 1,
    '{1}', 'done', now(), 1, ''
FROM results_configuration AS configuration
CROSS JOIN LATERAL generate_series(1, CASE configuration.run_id WHEN 11 THEN 6 ELSE 20 END) AS block
ORDER BY 1, 4;

INSERT INTO results_attempt (id, run_id, trial_id, number, state, worker, started_at, ingested_at, bundle,
    bundle_sha256, environment, phases, commands, checks, files, events, gaps, notes)
SELECT trial.id, run_id, trial.id, 1, 'done', '', now(), now(), '', '', md5((configuration_id %% 2)::text),
    '[]', '[]', '[]', '[]', '[]', '[]', '{}'
FROM results_trial AS trial ORDER BY trial.id;

SELECT setval(pg_get_serial_sequence('results_attempt', 'id'), (SELECT max(id) FROM results_attempt));

UPDATE results_trial SET attempt_id = id;

INSERT INTO results_environmentlayer (environment, node, layer_id)
SELECT md5(environment::text), 'primary', lpad(to_hex(layer), 64, '0')
FROM generate_series(0, 1) AS environment CROSS JOIN generate_series(0, 7) AS layer;

INSERT INTO results_measure (metric_id, node, label)
VALUES
    ('tps', '', ''), ('latency.mean', '', ''), ('latency.p50', '', ''), ('latency.p95', '', ''), ('latency.p99', '', ''),
    ('cpu.user', 'primary', ''), ('cpu.user', 'client', ''), ('cpu.system', 'primary', ''), ('wal.bytes', 'primary', ''),
    ('transactions', '', '')
ON CONFLICT DO NOTHING;

SELECT setseed(0.5);
INSERT INTO results_attemptvalues (run_id, attempt_id, measures, values)
SELECT
    trial.run_id, trial.id, array_agg(measure.id ORDER BY measure.id),
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
GROUP BY trial.run_id, trial.id;

VACUUM ANALYZE;
