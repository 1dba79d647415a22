-- How many runs of a search between two days views over everything are made of, and how many more there would be: none that is
-- private, and none of imported results.
SELECT count(*) FILTER (WHERE run.standing = 'kept') AS kept,
    count(*) FILTER (WHERE run.standing = 'exploratory') AS exploratory
FROM results_run AS run
WHERE {conditions} AND NOT run.private AND (%(published)s OR run.publication_id IS NULL)
    AND (
        run.publication_id IS NULL
        OR run.publication_id NOT IN (SELECT id FROM results_publication WHERE program <> '')
    )
