# Stops servers of the clusters below $1: where $3 is 'but' all except those whose data directories follow, where it is
# 'only' none but those. One that has not ended after $2 seconds is stopped at once; 10 s later it is killed with all of
# its processes. Prints for each how it ended (fast, immediate, killed) and its data directory.
clusters=$1 patience=$2 which=$3
shift 3

works_in() { # A process that has ended, reaped or not, works nowhere.
    [ "/proc/$1/cwd" -ef "$2" ]
}

gone() { # $1 pid, $2 data directory, $3 seconds
    seconds
    end=$((now + $3))
    while works_in "$1" "$2"; do
        [ "$now" -le "$end" ] || return 1
        sleep 0.02
        seconds
    done
}

kill_all() { # $1 pid, $2 data directory. The postmaster first: it would start others.
    kill -s KILL "$1"
    for process in /proc/[0-9]*; do
        works_in "${process#/proc/}" "$2" && kill -s KILL "${process#/proc/}"
    done
    gone "$1" "$2" 10
} 2>/dev/null

stop() { # $1 pid, $2 data directory. The signals that pg_ctl sends: no need to know whose pg_ctl.
    how=fast
    gone "$1" "$2" "$patience" || {
        how=immediate
        kill -s QUIT "$1"
        gone "$1" "$2" 10 || { how=killed && kill_all "$1" "$2"; }
    }
    echo "$how $2"
}

chosen() { # $1 a data directory, $2 … those named
    data=$1
    shift
    for name in "$@"; do
        [ "$data" != "$name" ] || { [ "$which" = only ] && return; return 1; }
    done
    [ "$which" = but ]
}

for pidfile in "$clusters"/*/data/postmaster.pid; do
    [ -s "$pidfile" ] || continue
    data=${pidfile%/postmaster.pid}
    chosen "$data" "$@" && read -r pid <"$pidfile" && works_in "$pid" "$data" || continue
    signal=INT
    recovers "${data%/data}/log" && signal=QUIT
    kill -s "$signal" "$pid" && stop "$pid" "$data" &
done
wait
