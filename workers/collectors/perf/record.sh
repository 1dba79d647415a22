# Records slices of the run; started as a job, ended by a signal or of itself. Each slice prints "began", "ended" (where
# it came to its end) and "over" with epoch seconds; perf's words go to stderr. From the environment: DATA_DIR of the
# server, EVENT, GRAPH, FREQUENCY, FIRST_S before the first slice, SLICE_S its length, WAIT_S between slices, SLICES how
# many at most, LIMIT_KB of disk after which no further slice begins.
exec 3>&2
over=
trap 'over=1' TERM
postmaster=$(head -n 1 -- "$DATA_DIR/postmaster.pid") || exit
case $GRAPH in
    none) graph= ;;
    dwarf) graph="--call-graph dwarf,16384" ;; # of 8 kB of stack, perf's default, the planner fills more
    *) graph="--call-graph $GRAPH" ;;
esac

# $@ a command. The TERM that ends this job goes to whatever it runs just then; what must be whole is asked for again.
whole() {
    (trap '' TERM && "$@")
    [ $? -ne 143 ] || whole "$@"
}

# The postmaster and its children, a line each: pid and title. What they fork later perf follows by itself.
processes() {
    whole list
    cat now >>processes
}

list() {
    ps -A -o pid= -o ppid= -o args= | awk -v postmaster="$postmaster" '
        $1 == postmaster { print $1, "postmaster" }
        $2 == postmaster { pid = $1; sub(/^ *[0-9]+ +[0-9]+ +/, ""); print pid, $0 }
    ' >now
}

# $1 file, $2 pids: records one slice.
record() {
    perf record -N -B -F "$FREQUENCY" -e "$EVENT" $graph -o "$1" -p "$2" -- \
        sh -c 'trap : TERM; date "+began %s.%N"; sleep "$1"; date "+ended %s.%N"' sh "$SLICE_S" &
    perf=$! ticks=0 bytes=0 looks=0 pause=0.05
    while read -r stat <"/proc/$perf/stat"; do
        restrain "$1" ${stat##*) } || break
    done 2>/dev/null
    wait "$perf"
}

# perf from 5.9 on asks without end, on half a processor, once a process that it was told to watch is gone (what that
# one forked does not matter). Where it works and writes nothing, it is let run for a tenth of the time only: its
# buffers hold what the kernel samples meanwhile. $1 file, then the fields of /proc/PID/stat from the state on.
restrain() {
    file=$1
    shift
    [ "$1" != Z ] || return 1
    used=$((${12} + ${13})) size=$(stat -c %s -- "$file" || echo 0)
    if [ $((used - ticks)) -gt 5 ] && [ $((size - bytes)) -lt 500000 ]; then looks=$((looks + 1)); else looks=0; fi
    if [ "$looks" -gt 2 ]; then # not at its beginning, when it looks around
        echo "perf was held back: a process that it watched had ended" >&3
        while read -r stat <"/proc/$perf/stat"; do
            case $stat in *") Z "*) return 1 ;; esac
            kill -s STOP "$perf" && sleep 0.1
            kill -s CONT "$perf" && sleep 0.01
        done
        return 1
    fi
    ticks=$used bytes=$size
    sleep "$pause"
    pause=0.5
}

slice=0
sleep "$FIRST_S"
while [ -z "$over" ] && [ "$(du -sk . | cut -f 1)" -lt "$LIMIT_KB" ]; do
    slice=$((slice + 1))
    tries=0
    processes
    # A process that ends between being listed and being watched makes perf fail: it is looked for anew.
    until record "$slice.data" "$(awk '{ printf "%s%s", sep, $1; sep = "," }' now)" || [ -n "$over" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 20 ] || exit 1
        processes
    done
    whole date "+over %s.%N"
    processes
    [ -z "$over" ] && [ "$slice" -lt "$SLICES" ] || break
    sleep "$WAIT_S"
done
exit 0
