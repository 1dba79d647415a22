# Makes the files that are to be loaded, once: a directory that exists is whole. Prints "table rows bytes" of each table.
# $1 directory, $2 the awk program, $3 seed, $4 customers, $5 items, $6 orders, $7 parts
directory=$1
if [ ! -d "$directory" ]; then
    making=$directory.making
    rm -rf -- "$making" && mkdir -p -- "$making" || exit
    processors=$(getconf _NPROCESSORS_ONLN)
    workers=
    first=0
    while [ "$first" -lt "$processors" ] && [ "$first" -lt "$7" ]; do
        (
            for table in customer item orders order_line; do
                awk -v table="$table" -v directory="$making" -v seed="$3" -v customers="$4" -v items="$5" \
                    -v orders="$6" -v parts="$7" -v first="$first" -v step="$processors" "$2" || exit
            done
        ) &
        workers="$workers $!"
        first=$((first + 1))
    done
    failed=0
    for worker in $workers; do
        wait "$worker" || failed=$?
    done
    if [ "$failed" -eq 0 ]; then
        for table in customer item orders order_line; do
            echo "$table $(cat "$making/$table".* | wc -lc)"
        done >"$making/contents" && mv -- "$making" "$directory" || failed=$?
    fi
    if [ "$failed" -ne 0 ]; then
        rm -rf -- "$making"
        exit "$failed"
    fi
fi
cat "$directory/contents"
