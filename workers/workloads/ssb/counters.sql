-- The parallel workers that the queries in this database were to get and got, since when it counts; nothing before 18.
-- This very question takes none.
SET max_parallel_workers_per_gather = 0;
SELECT current_setting('server_version_num')::int >= 180000 AS counting \gset
\if :counting
SELECT json_build_object('planned', parallel_workers_to_launch, 'launched', parallel_workers_launched, 'since', stats_reset)
FROM pg_stat_database WHERE datname = current_database();
\endif
