# Kills a server and all its processes at once, as a power cut would. $1 its data directory.
read -r main <"$1/postmaster.pid" || exit
data=$(cd "$1" && pwd -P)
[ "$(readlink "/proc/$main/cwd")" = "$data" ] || exit
kill -s KILL "$main"
tries=0
while left=$(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$data" 2>/dev/null) && [ -n "$left" ]; do
    for process in $left; do
        process=${process#/proc/}
        kill -s KILL "${process%/cwd}"
    done 2>/dev/null
    tries=$((tries + 1))
    [ "$tries" -gt 500 ] && exit 1
    sleep 0.02
done
exit 0
