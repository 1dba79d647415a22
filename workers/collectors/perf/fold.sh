# Folds the recorded slices into counts of stacks. $1 directory of the slices   $2 the awk program's text   $3 name of
# the server's binary   $4 and later: options that this perf script knows.
cd -- "$1" || exit
program=$2 server=$3
shift 3
known=" $* " options=
case $known in *" inline "*) options=--no-inline ;; esac
case $known in *" show-lost-events "*) options="$options --show-lost-events" ;; esac
rm -f failed
for data in [0-9]*.data; do
    [ -s "$data" ] || continue
    # since Linux 6.0 the kernel counts for each event what it lost, before that only in records of its own (fold.awk)
    perf report -i "$data" --stats 2>/dev/null | awk '
        / stats:$/ { of_event = !/Aggregated/ }
        of_event && $1 == "LOST_SAMPLES" { sum += $3 }
        END { print "LOST_SAMPLES", sum + 0 }'
    perf script -i "$data" $options -F comm,pid,event,ip,sym,dso 2>script.err || {
        echo "$data" >>failed
        cat script.err >&2
    }
done | awk -v server="$server" "$program" processes - || exit
[ ! -s failed ]
