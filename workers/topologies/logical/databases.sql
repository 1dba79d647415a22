-- The databases of a subscriber that an earlier trial left, and which of them still subscribe.
SELECT datname AS name, EXISTS (SELECT FROM pg_subscription WHERE subdbid = d.oid) AS subscribes
  FROM pg_database AS d
 WHERE NOT datistemplate AND datname <> 'postgres'
