-- The runs of a search that views over everything are made of, the newest first: none that is private, and none of imported
-- results.
SELECT run.id, run.standing
FROM results_run AS run
WHERE {conditions} AND NOT run.private AND (%(published)s OR run.publication_id IS NULL)
    AND NOT EXISTS (SELECT FROM results_publication WHERE id = run.publication_id AND program <> '')
ORDER BY run.id DESC
