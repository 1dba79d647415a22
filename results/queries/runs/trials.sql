-- One row a trial, newest first, with its headline value where its numbers count.
SELECT
    trial.id, trial.run_id, configuration.index AS configuration, configuration.name,
    coalesce((
        SELECT json_object_agg(factor ->> 'name', configuration.levels ->> (factor ->> 'name') ORDER BY place)
        FROM jsonb_array_elements(run.factors) WITH ORDINALITY AS listed (factor, place)
    ), '{}') AS levels,
    trial.block, trial.position, trial.state, trial.phase, trial.phase_at, trial.expected_s,
    coalesce(latest.number, 0) AS attempts, trial.attempt_id,
    run.headline AS metric, coalesce(metric.unit, '') AS unit, headline.value,
    CASE WHEN trial.state <> 'done' THEN trial.error END::json AS failure,
    latest.started_at, latest.ended_at, coalesce(latest.bundle, '') <> '' AS bundle,
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
LEFT JOIN LATERAL (
    SELECT number, started_at, ended_at, bundle FROM results_attempt
    WHERE trial_id = trial.id ORDER BY number DESC LIMIT 1
) AS latest ON true
LEFT JOIN LATERAL (
    SELECT value FROM results_measurement
    WHERE attempt_id = trial.attempt_id AND metric_id = run.headline AND label = '' ORDER BY node LIMIT 1
) AS headline ON trial.state = 'done'
WHERE (%(ids)s::bigint[] IS NULL OR trial.id = ANY(%(ids)s))
    AND (%(run_id)s::bigint IS NULL OR trial.run_id = %(run_id)s)
    AND (%(state)s = '' OR trial.state = %(state)s)
    AND (%(before_id)s::bigint IS NULL OR trial.id < %(before_id)s)
ORDER BY trial.id DESC
LIMIT %(limit)s
