# $1 directory of the logs   $2 origin, epoch seconds on this machine's clock   $3 the awk program's text
# $4 what to print first
# One awk a log (pgbench writes one a thread), as many at a time as there are processors.
set -u
cd "$1" || exit 1
program=$3
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
running=""
count=0
status=0
finish() {
    for pid in $running; do wait "$pid" || status=1; done
    running=""
    count=0
}
for log in pgbench_log.*; do
    [ -f "$log" ] || { echo "no log" >&2; exit 3; }
    awk -v origin="$2" "$program" "$log" > "folded.$log" &
    running="$running $!"
    count=$((count + 1))
    [ "$count" -lt "$processors" ] || finish
done
finish
[ "$status" = 0 ] || exit 1
printf "%s\n" "$4" && cat folded.pgbench_log.*
