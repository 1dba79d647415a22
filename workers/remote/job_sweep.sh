# Ends and removes the jobs of dead attempts. $1 the agent's work directory, whose jobs/ holds a directory for each
# attempt, $2 grace in seconds, $3 the only name to look at ('' = all), $4 … names to keep. Prints the names removed.
jobs=$1/jobs grace=$2 only=$3
enter "$1" jobs
case $? in 0) ;; 3) exit 0 ;; 4) exit 4 ;; *) exit 1 ;; esac
shift 3
for attempt in *; do
    [ -d "$attempt" ] || [ -L "$attempt" ] || continue
    [ -z "$only" ] || [ "$attempt" = "$only" ] || continue
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
    tries=0 # a supervisor may write its last file meanwhile
    until rm -rf -- "$attempt" 2>/dev/null || [ "$tries" -ge 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    rm -rf -- "$attempt" && echo "$attempt"
done
