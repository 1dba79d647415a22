# Counts events of a server's processes until a signal; started as a job. Writes counts.csv, one line an event and
# interval, and begun once it has the first, and prints "ended" with the epoch seconds of the last. From the
# environment: DATA_DIR of the server, EVENTS, INTERVAL_MS.
ended=
trap 'ended=1' INT
postmaster=$(head -n 1 -- "$DATA_DIR/postmaster.pid") || exit

# The postmaster and its children: what they fork later perf counts with them, also after its end.
processes() {
    ps -A -o pid= -o ppid= | awk -v postmaster="$postmaster" '
        $1 == postmaster || $2 == postmaster { printf "%s%s", comma, $1; comma = "," }'
}

count() {
    list=$(processes)
    # A signal that came meanwhile is not perf's, which would never end.
    [ -z "$ended" ] || return 0
    LC_ALL=C perf stat -x , -I "$INTERVAL_MS" -e "$EVENTS" -o counts.csv -p "$list" || grep -q , counts.csv
}

# A file without counts is that of a perf that failed.
until grep -qs , counts.csv && echo >begun; do
    sleep 0.02
    kill -s 0 $$ || exit
done >/dev/null 2>&1 &

# A process that ends between being listed and being counted makes perf fail: it is looked for anew.
tries=0
until count; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || exit 1
done
grep -qs , counts.csv || { echo "ended before it had counted anything" >&2; exit 1; }
date -r counts.csv "+ended %s.%N"
