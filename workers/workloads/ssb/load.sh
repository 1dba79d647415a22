# Streams generated rows into COPY; prints "table rows" for each stream. Runs where the generators are.
# $1 psql  $2 database  $3 dimensions or lineorder  $4 streams at once  $5 orders  $6 customers  $7 suppliers  $8 parts
# $9 seed
psql=$1 database=$2 what=$3 streams=$4 orders=$5 customers=$6 suppliers=$7 parts=$8 seed=$9

# A generator that dies leaves a shorter stream that ends like any other. So it counts what it made, at its very end,
# and as many rows must have gone in.
stream() { # $1 name  $2 table  $3 COPY statement  $4 generator  the rest: its variables
    name=$1 table=$2 statement=$3 generator=$4
    shift 4
    rm -f "made.$name"
    awk -v customers="$customers" -v suppliers="$suppliers" -v parts="$parts" -v seed="$seed" "$@" \
        -v counted="made.$name" -f common.awk -f "$generator" |
        "$psql" -X -v ON_ERROR_STOP=1 -d "$database" -c "$statement" >"copied.$name" || return
    made=$(cat "made.$name") || made=unknown
    copied=$(sed -n 's/^COPY //p' "copied.$name")
    if [ "$made" != "$copied" ]; then
        echo "$table: the generator made $made rows, COPY took $copied" >&2
        return 1
    fi
    echo "$table $copied"
}

if [ "$what" = dimensions ]; then
    for table in customer supplier part date; do
        stream "$table" "$table" "COPY $table FROM STDIN" dimensions.awk -v table="$table" || exit
    done
    exit
fi
statement=$(cat copy_lineorder.sql)
number=0 processes=
while [ "$number" -lt "$streams" ]; do
    first=$((orders * number / streams + 1))
    number=$((number + 1))
    last=$((orders * number / streams))
    stream "lineorder.$number" lineorder "$statement" lineorder.awk -v first="$first" -v last="$last" &
    processes="$processes $!"
done
status=0
for process in $processes; do
    wait "$process" || status=$?
done
exit "$status"
