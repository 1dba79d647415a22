-- How far the first copy of each table is: how many are ready, how many are not, and how much is there.
SELECT count(*) FILTER (WHERE srsubstate = 'r') AS ready,
       count(*) FILTER (WHERE srsubstate <> 'r') AS unready,
       pg_database_size(current_database()) AS bytes
  FROM pg_subscription_rel
