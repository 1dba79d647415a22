-- A warehouse of so many trials that ended, of 10 agents in turn and one that has long been idle, with four values each,
-- and of a few that run. Runs of 100 trials, the newest last.
INSERT INTO results_metric (name, unit, better, label, help, minimum_effect)
SELECT name, unit, better, name, '', 0.02
FROM (VALUES
    ('tps', 'tps', 'higher'), ('latency.p99', 'us', 'lower'), ('cpu.user', '%%', 'neither'), ('wal.bytes', 'B', 'lower')
) AS metric (name, unit, better);

INSERT INTO results_run (id, name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at,
    started_at, ended_at)
SELECT id, 'run ' || id, 'pgbench', 'tps', '', '[]', '', 1, 10, 'finished', now(), now(), now()
FROM generate_series(1, %(trials)s / 100) AS id;

INSERT INTO results_configuration (run_id, index, name, levels, spec, dimensions)
SELECT run.id, index, 'configuration ' || index, '{}', '{}', jsonb_build_object('workload', 'pgbench', 'clients', index)
FROM results_run AS run CROSS JOIN generate_series(0, 9) AS index;

INSERT INTO results_trial (run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase)
SELECT
    run_id, id, block, 10 * index + block,
    CASE WHEN run_id = 1 THEN ARRAY[11] ELSE ARRAY[1 + run_id %% 10] END, 'done',
    now() - make_interval(mins => 100 * (1 + %(trials)s / 100 - run_id::int) - 10 * index::int - block), 1, ''
FROM results_configuration CROSS JOIN generate_series(1, 10) AS block
ORDER BY run_id, index, block;

INSERT INTO results_attempt (run_id, trial_id, number, state, worker, started_at, ended_at, ingested_at, bundle,
    bundle_sha256, environment, phases, commands, checks, files, events, gaps, notes)
SELECT run_id, id, 1, 'done', '', state_at, state_at, state_at, '', '', '', '[]', '[]', '[]', '[]', '[]', '[]', '{}'
FROM results_trial ORDER BY id;

UPDATE results_trial AS trial SET attempt_id = attempt.id FROM results_attempt AS attempt WHERE attempt.trial_id = trial.id;

INSERT INTO results_attempt (run_id, trial_id, number, state, worker, started_at, bundle, bundle_sha256, environment,
    phases, commands, checks, files, events, gaps, notes)
SELECT run_id, id, 2, 'running', '', now(), '', '', '', '[]', '[]', '[]', '[]', '[]', '[]', '{}'
FROM results_trial ORDER BY id DESC LIMIT 10;

INSERT INTO results_measure (metric_id, node, label)
SELECT name, '', CASE number WHEN 0 THEN '' ELSE 'of other trials ' || number END
FROM results_metric CROSS JOIN generate_series(0, 20) AS number
ORDER BY name, number;

INSERT INTO results_attemptvalues (run_id, attempt_id, measures, values)
SELECT trial.run_id, trial.attempt_id, measured.ids, array_fill(trial.id::float8, ARRAY[cardinality(measured.ids)])
FROM results_trial AS trial CROSS JOIN (
    SELECT array_agg(id ORDER BY id) AS ids FROM results_measure WHERE label = ''
) AS measured
ORDER BY trial.id;
