ALTER SYSTEM SET synchronous_commit = :'commit';
ALTER SYSTEM SET synchronous_standby_names = :'names';
SELECT pg_reload_conf() \g /dev/null
