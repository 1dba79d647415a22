# Counts events of a server's processes until a signal; started as a job. Writes counts.csv, one line an event and
# interval, and prints "ended" with the epoch seconds of its last line. From the environment: DATA_DIR of the server,
# EVENTS, INTERVAL_MS.
trap : INT
postmaster=$(head -n 1 -- "$DATA_DIR/postmaster.pid") || exit

# The postmaster and its children: what they fork later perf counts with them, also after its end.
processes() {
    ps -A -o pid= -o ppid= | awk -v postmaster="$postmaster" '
        $1 == postmaster || $2 == postmaster { printf "%s%s", comma, $1; comma = "," }'
}

# A process that ends between being listed and being counted makes perf fail: it is looked for anew.
tries=0
until LC_ALL=C perf stat -x , -I "$INTERVAL_MS" -e "$EVENTS" -o counts.csv -p "$(processes)" || grep -q , counts.csv; do
    tries=$((tries + 1))
    [ "$tries" -lt 20 ] || exit 1
done
date -r counts.csv "+ended %s.%N"
