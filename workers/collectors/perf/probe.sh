# Finds out what perf may and can do here, on a server kept busy. $1 directory to work in   $2 the server's data
# directory   $3 psql   $4 SQL that keeps a backend busy   $5 database. Prints one line: the name of the
# server's binary, the event, the call graph, and the options of `perf script` that this version knows. Fails with
# perf's own words.
mkdir -p -- "$1" && cd -- "$1" || exit
for tool in perf ps awk; do
    command -v "$tool" >/dev/null || { echo "$tool is not on the PATH" >&2; exit 3; }
done
postmaster=$(head -n 1 -- "$2/postmaster.pid") || exit
binary=$(readlink "/proc/$postmaster/exe")
binary=${binary%" (deleted)"}
binary=${binary##*/}
psql=$3 sql=$4 database=$5
options=
for option in inline show-lost-events; do
    if perf script -h 2>&1 | grep -q -e "--$option"; then options="$options $option"; fi
done
no_inline=
case $options in *inline*) no_inline=--no-inline ;; esac

# $1 event, $2 call graph: prints what was recorded of it (cycles may have become cpu-clock, and u is added where only
# user mode may be seen), how many samples, and of how many the stack leads down to main
try() {
    perf record -N -F 997 -e "$1" --call-graph "$2" -o probe.data -p "$postmaster" -- \
        "$psql" -X -q -A -t -d "$database" -c "$sql" >probe.out 2>probe.err || return 1
    used=$(perf evlist -i probe.data 2>/dev/null | awk -v asked="$1" '
        NR == 1 { print ($0 ~ /(cpu|task)-clock/ ? "cpu-clock" : asked) ($0 ~ /:[a-zA-Z]*u[a-zA-Z]*$/ ? ":u" : "") }')
    perf script -i probe.data $no_inline -F comm,pid,event,ip,sym,dso 2>/dev/null | awk -v used="${used:-$1}" '
        /^[^\t]/ { samples++ }
        /^\t/ && $2 == "main" { whole++ }
        END { print used, samples + 0, whole + 0 }'
}

for event in cycles cpu-clock; do
    found=$(try "$event" fp) || continue
    set -- $found
    [ "$2" -gt 0 ] || continue
    used=$1 graph=none
    if [ $(($3 * 2)) -ge "$2" ]; then
        graph=fp
    elif found=$(try "$event" dwarf) && set -- $found && [ "$2" -gt 0 ] && [ $(($3 * 2)) -ge "$2" ]; then
        graph=dwarf
    fi
    rm -f probe.data probe.out probe.err
    echo "$binary $used $graph$options"
    exit 0
done
if [ -s probe.err ]; then cat probe.err >&2; else echo "perf took no sample of a busy server" >&2; fi
echo "kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown)" >&2
exit 1
