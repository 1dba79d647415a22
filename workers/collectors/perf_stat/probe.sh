# Finds out whether perf may count here. $1 the events   $2 the server's data directory ('' = what perf starts itself).
# Fails with perf's own words.
for tool in perf ps awk; do
    command -v "$tool" >/dev/null || { echo "$tool is not on the PATH" >&2; exit 3; }
done
events=$1
set -- "$2"
[ -z "$1" ] || set -- -p "$(head -n 1 -- "$1/postmaster.pid")" || exit
[ "$1" ] || shift
LC_ALL=C perf stat -x , -e "$events" -o /dev/null "$@" -- true && exit
echo "kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown)" >&2
exit 1
