# Copies the rows of one part of a table from the server of libpq's variables to another.
# $1 where psql is, $2 database, $3 table, $4 condition; $5 host, $6 port, $7 password file of the other server, if any.
psql() { "$bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "$@"; }
bin=$1
read_out() {
    echo 'COPY (SELECT * FROM :table WHERE :condition) TO STDOUT;' |
        psql "$1" -v table="$2" -v condition="$3" -f -
    echo "$?" >&4
}
write_in() {
    [ -n "$5" ] && export PGPASSFILE="$5"
    PGHOST=$3 PGPORT=$4 psql "$1" -c "COPY $2 FROM STDIN"
    echo "$?" >&4
}
# A reader that breaks off looks like the end of the rows: both must have come to their end.
ended=$({ read_out "$2" "$3" "$4" | write_in "$2" "$3" "$5" "$6" "$7" >&2; } 4>&1 | tr '\n' ' ')
[ "$ended" = '0 0 ' ]
