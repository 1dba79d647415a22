-- How many runs of a search, of any day and state, views over everything are made of, and how many more there would be. Of
-- private runs and imported results there are no counts.
SELECT coalesce(sum(runs) FILTER (WHERE run.standing = 'kept'), 0)::bigint AS kept,
    coalesce(sum(runs) FILTER (WHERE run.standing = 'exploratory'), 0)::bigint AS exploratory
FROM (
    SELECT *, CASE WHEN published THEN 0 END AS publication_id, '' AS state, NULL::timestamptz AS started_at
    FROM results_runcount
) AS run
WHERE {conditions} AND (%(published)s OR NOT run.published)
