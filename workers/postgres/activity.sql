-- What the sessions of clients do, those that are alike as one row. mark: changes as soon as one of them begins or ends a
-- statement, or waits for something else. Before 9.6 nobody tells what for; backend_type is there from 10 on.
SELECT
    count(*) AS sessions, state, wait, min(since_s) AS since_s,
    (array_agg(query ORDER BY since_s))[1] AS query,
    array_agg(pid ORDER BY pid) AS pids,
    md5(string_agg(pid || ' ' || since_s, ',' ORDER BY pid)) AS mark
FROM (
    SELECT
        activity.pid, coalesce(activity.state, '') AS state,
        coalesce(
            (facts ->> 'wait_event_type') || ': ' || (facts ->> 'wait_event'),
            CASE WHEN facts ->> 'waiting' = 'true' THEN 'a lock' ELSE '' END
        ) AS wait,
        extract(epoch FROM coalesce(activity.state_change, activity.backend_start))::float8 AS since_s,
        left(activity.query, 200) AS query
    FROM pg_stat_activity AS activity
    CROSS JOIN LATERAL to_jsonb(activity) AS facts
    WHERE activity.datname IS NOT NULL
      AND activity.pid <> pg_backend_pid()
      AND activity.application_name NOT LIKE 'teiten%'
      AND activity.query NOT LIKE 'autovacuum:%'
      AND coalesce(facts ->> 'backend_type', 'client backend') IN ('client backend', 'parallel worker')
) AS session
GROUP BY state, wait
ORDER BY sessions DESC, state, wait
