pgbench -n -r -t 10 -f s.sql
exit status 0
