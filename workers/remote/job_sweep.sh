# Ends and removes the jobs of dead attempts. $1 the directory that holds a directory for each attempt, $2 grace in
# seconds, $3 … names to keep. Prints the names removed.
jobs=$1 grace=$2
shift 2
cd -- "$jobs" 2>/dev/null || exit 0
for attempt in *; do
    [ -d "$attempt" ] || continue
    for name in "$@"; do
        [ "$attempt" = "$name" ] && continue 2
    done
    locks=$(find "$attempt" -name lock -type f)
    IFS='
'
    for lock in $locks; do
        flock -n "$lock" true || kill -s TERM -- "-$(cat "${lock%lock}pid")"
    done
    for lock in $locks; do
        directory=$jobs/${lock%/lock}
        flock -w "$grace" "$lock" true || kill -s KILL -- "-$(cat "$directory/pid")"
        flock -w "$grace" "$lock" true
        for environment in $(grep -lzxF -e "TEITEN_JOB=$directory" /proc/[0-9]*/environ); do
            process=${environment#/proc/}
            kill -s KILL "${process%/environ}"
        done
    done 2>/dev/null
    unset IFS
    rm -rf -- "$attempt" && echo "$attempt"
done
