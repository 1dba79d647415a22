# Fills an empty database. Runs in the directory of its SQL files and of generate.awk, with libpq's variables and
# PSQL DATABASE JOBS FOREIGN_KEYS FILLFACTOR ACCESS_METHOD SEED WAREHOUSES CUSTOMERS ITEMS C_LAST MOMENT in its environment.
# Prints a line for each phase: NAME SECONDS, and for a table also its ROWS.
set -u

ask() { "$PSQL" -X -A -t -v ON_ERROR_STOP=1 -d "$DATABASE" "$@"; }

generate() {
    awk -v table="$1" -v worker="$2" -v workers="$JOBS" -v seed="$SEED" -v warehouses="$WAREHOUSES" \
        -v customers="$CUSTOMERS" -v items="$ITEMS" -v c_last="$C_LAST" -v moment="$MOMENT" -f generate.awk
    echo "$?" >"generated.$2"
}

# A generator that died leaves fewer rows, not an error of COPY.
copy_share() {
    generate "$1" "$2" | ask -c "COPY $1 FROM STDIN" >"copied.$2" && [ "$(cat "generated.$2")" = 0 ]
}

# Every JOBS-th line of an SQL file, from number $2 on.
run_share() {
    awk -v jobs="$JOBS" -v share="$2" 'NR % jobs == share' "$1" | ask -q >"copied.$2"
}

# Two statements that each lock two tables would end in a deadlock side by side.
run_alone() { ask -q -f "$1" >copied.0; }

# A phase of $2 shares at once: $1 its name, then a command and its argument, which gets the share's number as another.
phase() {
    name=$1 shares=$2 work=$3 what=$4 pids='' failed=''
    rm -f copied.*
    begun=$(date +%s.%N)
    share=0
    while [ "$share" -lt "$shares" ]; do
        "$work" "$what" "$share" &
        pids="$pids $!"
        share=$((share + 1))
    done
    for pid in $pids; do wait "$pid" || failed=yes; done
    [ -z "$failed" ] || { echo "the phase '$name' of loading failed" >&2; exit 1; }
    date +%s.%N | awk -v name="$name" -v begun="$begun" '
        NR == FNR { ended = $1; next }
        $1 == "COPY" { rows += $2; copied = 1 }
        END { printf "%s %.6f%s\n", name, ended - begun, copied ? " " rows : "" }' - copied.*
}

export LC_ALL=C
ask -q -v access_method="$ACCESS_METHOD" -f tables.sql || exit
[ "$FILLFACTOR" = 100 ] || ask -q -v fillfactor="$FILLFACTOR" -f fillfactor.sql || exit
for table in item warehouse district customer history stock orders order_line new_order; do
    phase "$table" "$JOBS" copy_share "$table"
done
phase primary-keys "$JOBS" run_share keys.sql
phase indexes "$JOBS" run_share indexes.sql
[ "$FOREIGN_KEYS" = no ] || phase foreign-keys 1 run_alone foreign_keys.sql
phase vacuum-analyze "$JOBS" run_share vacuum.sql
ask -q -f functions.sql
