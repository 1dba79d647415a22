-- The kept runs of a plan and a workload ('': of all) that a filter lets through: how many, how many more would be,
-- were they not exploratory, and the newest of them, or the newest before one. None that is archived, private or published.
-- They are counted one by one only between days; else their counts are kept.
SELECT
    coalesce(sum(runs) FILTER (WHERE standing = 'kept'), 0)::bigint AS kept,
    coalesce(sum(runs) FILTER (WHERE standing = 'exploratory'), 0)::bigint AS exploratory,
    array(
        SELECT run.id FROM results_run AS run
        WHERE {conditions} AND {public} AND run.standing = 'kept'
            AND (%(before)s::bigint IS NULL OR run.id < %(before)s)
        ORDER BY run.id DESC LIMIT %(most)s
    ) AS ids
FROM (
    SELECT run.standing, run.runs FROM results_runcount AS run
    WHERE NOT %(by_day)s AND {conditions} AND NOT run.published
    UNION ALL
    SELECT run.standing, 1 FROM results_run AS run
    WHERE %(by_day)s AND {conditions} AND {public}
) AS counted
