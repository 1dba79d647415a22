-- One trial with its run and configuration, and its neighbours by position.
SELECT
    trial.id, trial.run_id, run.name AS run_name, run.workload, run.headline,
    coalesce(metric.unit, '') AS headline_unit,
    configuration.id AS configuration_id, configuration.name AS configuration,
    coalesce((
        SELECT json_object_agg(factor ->> 'name', configuration.levels ->> (factor ->> 'name') ORDER BY place)
        FROM jsonb_array_elements(run.factors) WITH ORDINALITY AS listed (factor, place)
    ), '{}') AS levels,
    configuration.dimensions::json AS dimensions, configuration.spec::json AS spec,
    trial.block, trial.position, trial.state, trial.phase, trial.phase_at, trial.expected_s,
    trial.error::json AS error, trial.attempt_id,
    (
        SELECT id FROM results_trial
        WHERE run_id = trial.run_id AND position < trial.position ORDER BY position DESC LIMIT 1
    ) AS previous,
    (
        SELECT id FROM results_trial
        WHERE run_id = trial.run_id AND position > trial.position ORDER BY position LIMIT 1
    ) AS next,
    CASE WHEN publication.id IS NOT NULL THEN json_build_object(
        'slug', publication.slug, 'title', publication.title, 'publisher', publication.publisher,
        'year', publication.year, 'place', publication.place, 'caption', publication.caption, 'program', publication.program
    ) END AS publication,
    trial.bundle_key <> '' AS from_teiten
FROM results_trial AS trial
JOIN results_run AS run ON run.id = trial.run_id
JOIN results_configuration AS configuration ON configuration.id = trial.configuration_id
LEFT JOIN results_publication AS publication ON publication.id = run.publication_id
LEFT JOIN results_metric AS metric ON metric.name = run.headline
WHERE trial.id = %(trial_id)s
