-- One row a configuration family of some runs (the newest first), with the levels and dimensions of one of its
-- configurations: what both together say is equal in all of them but for versions (family_of in migration 0033). Of so
-- many runs, from the newest on, that they have about `most` configurations.
-- The agents of a run from another Teiten are others, whatever they are called: `teiten` tells them apart, by the run
-- where the address of the other one is not known.
WITH sizes AS (
    SELECT run.id, sum(size.configurations) OVER (ORDER BY run.id DESC) - size.configurations AS newer
    FROM unnest(%(runs)s::bigint[]) AS run (id)
    CROSS JOIN LATERAL (
        SELECT index + 1 AS configurations FROM results_configuration
        WHERE run_id = run.id ORDER BY index DESC LIMIT 1
    ) AS size
),
members AS MATERIALIZED (
    SELECT
        configuration.id, configuration.run_id, configuration.family,
        coalesce(nullif(source.address, ''), 'of run ' || source.run_id, 'this') AS teiten,
        (SELECT count(*) FROM results_trial WHERE configuration_id = configuration.id AND state = 'done') AS trials,
        (SELECT string_agg(key, E'\n') FROM jsonb_object_keys(configuration.levels) AS key) AS factors
    FROM sizes
    JOIN results_configuration AS configuration ON configuration.run_id = sizes.id
    LEFT JOIN results_runimport AS source ON source.run_id = sizes.id
    WHERE %(most)s::int IS NULL OR sizes.newer < %(most)s
),
counted AS (
    SELECT
        family, teiten, array_agg(id ORDER BY id) AS configurations, sum(trials)::bigint AS done,
        max(run_id) FILTER (WHERE trials > 0) AS newest_run,
        array(SELECT DISTINCT unnest(string_to_array(string_agg(DISTINCT factors, E'\n'), E'\n'))) AS factors
    FROM members
    GROUP BY family, teiten
)
SELECT
    counted.family || ' ' || counted.teiten AS key,
    first.levels::text AS levels, first.dimensions::text AS dimensions,
    counted.configurations, counted.done, counted.newest_run, counted.factors
FROM counted
JOIN results_configuration AS first ON first.id = counted.configurations[1]
ORDER BY counted.configurations[1]
