-- How many relations and bytes were brought into shared_buffers: every user table, its TOAST, its indexes.
SET client_min_messages = error;
SELECT NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_prewarm') AS missing \gset
SELECT current_setting('is_superuser') = 'on' AS superuser \gset
\if :missing
\if :superuser
SET log_min_messages = fatal;  -- an installation without it is no error of the server's
\endif
CREATE EXTENSION pg_prewarm;
\if :superuser
RESET log_min_messages;
\endif
\endif
SELECT count(*) || ' ' || coalesce(sum(pg_prewarm(c.oid::regclass) * current_setting('block_size')::bigint), 0)
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'm', 'i', 't')
   AND (n.nspname = 'pg_toast' AND c.oid >= 16384
        OR n.nspname !~ '^pg_' AND n.nspname <> 'information_schema');
