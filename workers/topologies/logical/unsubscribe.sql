-- Ends the subscriptions of this database; their slots are dropped at the primary, which may be another by now.
SELECT format('ALTER SUBSCRIPTION %I DISABLE', subname),
       format('ALTER SUBSCRIPTION %I SET (slot_name = NONE)', subname),
       format('DROP SUBSCRIPTION %I', subname)
  FROM pg_subscription
 WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
\gexec
