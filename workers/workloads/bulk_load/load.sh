# The load from the first COPY to the last ANALYZE; every session prints its own marks.
# $1 psql, $2 database, $3 directory of the SQL, $4 directory of the data, $5 parts, $6 sessions, $7 whether tables are
# loaded whole and without WAL, $8 … then each session's tables in words, else every table.
psql=$1 database=$2 sql=$3 data=$4 parts=$5 jobs=$6 skipping=$7
shift 7

session() {
    "$psql" -X -q -A -t -v ON_ERROR_STOP=1 -d "$database" "$@"
}

copy() { # $1 table, $2 first part, $3 step: those parts of it in one COPY
    table=$1 part=$2 step=$3
    set --
    while [ "$part" -lt "$parts" ]; do
        set -- "$@" "$data/$table.$part"
        part=$((part + step))
    done
    cat -- "$@" | session -v table="$table" -v skipping="$skipping" -f "$sql/copy.sql"
}

together() { # Waits for the sessions $@.
    failed=0
    for worker; do
        wait "$worker" || failed=$?
    done
    [ "$failed" -eq 0 ] || exit "$failed"
}

if [ "$skipping" = 1 ]; then
    workers=
    for share; do
        (for table in $share; do copy "$table" 0 1 || exit; done) &
        workers="$workers $!"
    done
    together $workers
else
    for table; do
        workers=
        first=0
        while [ "$first" -lt "$jobs" ]; do
            copy "$table" "$first" "$jobs" &
            workers="$workers $!"
            first=$((first + 1))
        done
        together $workers
    done
fi
for step in primary_keys foreign_keys vacuum analyze; do
    session -f "$sql/$step.sql" || exit
done
