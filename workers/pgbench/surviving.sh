# Runs pgbench until a moment, and again whenever it breaks off before. Each run leaves its outputs below the present
# directory: runs/N/began, ended (epoch seconds), exit, stdout, stderr.
# $1 seconds, $2 pause between two runs, empty: it is not run again, $3 prefix of the logs, $4 database, $5 and $6 PGHOST
# and PGPORT of every further run, $7 … pgbench and its words. Its variable `start` says which run it is.
seconds=$1 pause=$2 prefix=$3 database=$4 hosts=$5 ports=$6
shift 6
begun=$(date +%s.%N)
number=0

whole_seconds_left() {
    date +%s.%N | awk -v begun="$begun" -v seconds="$seconds" '{
        left = seconds - ($1 - begun)
        if (left > 0) print int(left) + (left > int(left))
    }'
}

while left=$(whole_seconds_left) && [ -n "$left" ]; do
    [ "$number" = 0 ] || [ -n "$pause" ] || break
    [ "$number" = 0 ] || sleep "$pause"
    [ "$number" = 0 ] || export PGHOST="$hosts" PGPORT="$ports"
    number=$((number + 1))
    mkdir -p "runs/$number" || exit
    date +%s.%N >"runs/$number/began"
    "$@" -D "start=$number" -T "$left" -l "--log-prefix=$prefix.$number" "$database" \
        >"runs/$number/stdout" 2>"runs/$number/stderr"
    echo $? >"runs/$number/exit"
    date +%s.%N >"runs/$number/ended"
done
