-- A client that is gone does not end its query: the server would go on with it, into the next trial. Asked until none is
-- left. backend_type is there from 10 on.
SELECT count(pg_terminate_backend(activity.pid)) AS sessions
  FROM pg_stat_activity AS activity
 WHERE activity.datname IS NOT NULL
   AND activity.pid <> pg_backend_pid()
   AND activity.query NOT LIKE 'autovacuum:%'
   AND activity.pid NOT IN (SELECT pid FROM pg_stat_replication)
   AND coalesce(to_jsonb(activity) ->> 'backend_type', 'client backend') = 'client backend'
