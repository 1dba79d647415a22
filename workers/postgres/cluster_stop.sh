# Stops the servers of all clusters below $1 but those named after it. Prints the data directories of those stopped.
clusters=$1
shift

works_in() { # A process that has ended, reaped or not, works nowhere.
    [ "$(readlink "/proc/$1/cwd")" = "$(cd "$2" && pwd -P)" ]
}

gone() { # $1 pid, $2 data directory, $3 seconds
    tries=$(($3 * 50))
    while works_in "$1" "$2"; do
        [ "$tries" -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.02
    done
}

stopping=
for pidfile in "$clusters"/*/data/postmaster.pid; do
    [ -s "$pidfile" ] || continue
    data=${pidfile%/postmaster.pid}
    for keep in "$@"; do
        [ "$data" = "$keep" ] && continue 2
    done
    read -r pid <"$pidfile"
    works_in "$pid" "$data" || continue
    # The signals that pg_ctl sends for fast, then immediate: no need to know whose pg_ctl.
    kill -s INT "$pid" && stopping="$stopping $pid" && echo "$data"
done
for pid in $stopping; do
    data=$(readlink "/proc/$pid/cwd") || continue
    gone "$pid" "$data" 120 && continue
    kill -s QUIT "$pid"
    gone "$pid" "$data" 30 || kill -s KILL "$pid"
done
