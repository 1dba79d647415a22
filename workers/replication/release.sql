-- Before an arrangement: nobody is waited for.
ALTER SYSTEM RESET ALL;
SELECT pg_reload_conf() \g /dev/null
