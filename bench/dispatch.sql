-- Runs of 1,000 trials each that wait in random order for agents: nine in ten for one, one in ten for two.
SELECT setval(pg_get_serial_sequence('results_run', 'id'), max(id)) FROM results_run;

INSERT INTO results_run (name, workload, headline, toml, factors, plan_hash, seed, blocks, state, created_at, started_at)
SELECT 'run ' || n, 'pgbench', 'tps', '', '[]', '', 1, 1000, 'running', now(), now()
FROM generate_series(1, %(trials)s / 1000) AS n;

INSERT INTO results_configuration (run_id, index, name, levels, spec, dimensions)
SELECT id, 0, '', '{}', '{}', '{}' FROM results_run WHERE state = 'running';

INSERT INTO results_trial (run_id, configuration_id, block, position, agents, state, state_at, attempts_made, phase)
SELECT run_id, id, position, position,
    CASE WHEN position %% 10 = 0 THEN ARRAY[first, first + 1] ELSE ARRAY[first] END, 'waiting', now(), 0, ''
FROM results_configuration
CROSS JOIN generate_series(0, 999) AS position
CROSS JOIN LATERAL (SELECT 1 + (hashint8(run_id * 1000 + position) & 1048575) %% (%(agents)s - 1) AS first) AS chosen
WHERE dimensions = '{}'
