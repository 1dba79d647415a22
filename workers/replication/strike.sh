# Loses a server at its moment. $1 delay in seconds, $2 stop, kill or hang, $3 how long it hangs, $4 bin directory,
# $5 data directory. Prints `struck` and `gone` with the time (epoch seconds): `gone` when no process of it is left.
delay=$1 kind=$2 hangs=$3 bin=$4
data=$(cd "$5" && pwd -P) && read -r postmaster <"$data/postmaster.pid" || exit

processes() { # All of the server's work in its data directory.
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$data" 2>/dev/null | sed 's,^/proc/,,; s,/cwd$,,'
}

strike() { # All at once, the postmaster first; then what it had begun meanwhile.
    kill -s "$1" "$postmaster" $known
    left=$(processes)
    [ -z "$left" ] || kill -s "$1" $left
} 2>/dev/null

sleep "$delay"
known=$(processes)
echo "struck $(date +%s.%N)"
case $kind in
stop) "$bin/pg_ctl" stop -D "$data" -m fast -w -t 120 >&2 || exit ;;
kill) strike KILL ;;
hang)
    trap 'strike KILL; exit 1' INT TERM # frozen servers are left to nobody
    strike STOP
    sleep "$hangs"
    strike KILL
    ;;
esac
seconds
end=$((now + 30))
while [ -n "$(processes)" ]; do
    seconds
    [ "$now" -le "$end" ] || { echo "processes of the server are still there" >&2; exit 1; }
    sleep 0.02
done
echo "gone $(date +%s.%N)"
