# Makes a database of one server a copy of that of another, which libpq's variables name. $1 where psql and pg_dump are,
# $2 the database, $3 socket directory and $4 port of the server that gets it. Exit status 3: it could not be copied.
bin=$1 database=$2 host=$3 port=$4

onto() { "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -v name="$database" -h "$host" -p "$port" -d "$1"; }

onto postgres <<'SQL' || exit 3
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :'name' \g /dev/null
DROP DATABASE IF EXISTS :"name";
SQL
# The last line comes only after a whole dump.
said=$({ "$bin/pg_dump" -C -d "$database" && printf '\n\\echo whole\n'; } | onto postgres) || exit 3
case $said in *whole) ;; *) exit 3 ;; esac
echo 'VACUUM ANALYZE; CHECKPOINT;' | onto "$database" || exit 3
