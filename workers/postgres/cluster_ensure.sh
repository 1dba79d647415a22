# Makes sure that one cluster exists and its server runs with the wanted settings. Prints what was done, the port, and
# how a server ended that had to be restarted (fast, immediate, killed).
# $1 bin directory, $2 the cluster's directory, $3 socket directory, $4 hash of the wanted settings, $5 teiten.conf,
# $6 pg_hba.conf, $7 where its WAL lies ('' = in its own directory), $8 the processors it runs on ('' = all), $9 how many
# seconds a server may take to end, then initdb options. Exit status 3: initdb failed; 4: the server did not
# start; 5: there is a link on the way; 6: the socket directory is another account's.
bin=$1 cluster=$2 sockets=$3 hash=$4 conf=$5 hba=$6 wal=$7 cpus=$8 patience=$9
shift 9
umask 077

alive() { # The pid file may be of a server long dead: only a process that works in this very directory counts.
    [ -s data/postmaster.pid ] && read -r pid <data/postmaster.pid &&
        [ "$(readlink "/proc/$pid/cwd")" = "$(cd data && pwd -P)" ]
}

fits() { # It has the wanted settings.
    [ "$(head -n 1 data/teiten.conf)" = "# $hash" ]
}

clear_dead() { # A postmaster that was killed leaves its pid file, and its backends for a moment. One that hangs is killed.
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/cwd")" = "$(cd data && pwd -P)" ] && kill -9 "${process#/proc/}"
    done 2>/dev/null
    rm -f data/postmaster.pid "$sockets"/.s.PGSQL.*
}

make_cluster() {
    rm -rf data made removing password
    [ -z "$wal" ] || { make_room "$wal" && set -- -X "$wal" "$@"; } || give_up $?
    "$bin/initdb" -D data -U teiten --auth=trust --no-locale --encoding=UTF8 "$@" >initdb.log 2>&1 || {
        status=$?
        cat initdb.log >&2
        cd .. && rm -rf -- "./${cluster##*/}"
        [ "$status" = 127 ] && exit 127
        exit 3
    }
    echo "include = 'teiten.conf'" >>data/postgresql.conf && : >made
}

ended=fast
stop() {
    mode=fast
    recovers log && mode=immediate
    "$bin/pg_ctl" stop -D data -m "$mode" -w -t "$patience" || {
        ended=immediate
        "$bin/pg_ctl" stop -D data -m immediate -w -t 60
    }
} >pg_ctl.log 2>&1

outlive() { # What a killed server left ends by itself soon, and holds its shared memory until then.
    seconds
    begun=$now
    while left=$(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$(cd data && pwd -P)" 2>/dev/null) &&
        [ -n "$left" ] && [ "$now" -le $((begun + 20)) ]; do
        if [ "$now" -gt $((begun + 10)) ]; then
            for process in $left; do
                process=${process#/proc/}
                kill -s KILL "${process%/cwd}"
            done 2>/dev/null
        fi
        sleep 0.1
        seconds
    done
}

start() {
    printf '%s\nport = %s\n' "$conf" "$1" >data/teiten.conf
    printf '%s' "$hba" >data/pg_hba.conf
    : >data/postgresql.auto.conf # what an earlier trial set by ALTER SYSTEM
    ${cpus:+taskset -c "$cpus"} "$bin/pg_ctl" start -D data -l "$cluster/log" -w -t 600 >pg_ctl.log 2>&1
}

enter_cluster "$cluster" && no_removal && enter_cluster "$cluster" || give_up $?
mkdir -p -- "$sockets" || exit
[ -O "$sockets" ] && [ ! -L "$sockets" ] || { ls -ld -- "$sockets" >&2; exit 6; }
chmod 700 "$sockets" || exit
how=started
[ -e made ] || { make_cluster "$@" && how=created; } || exit
seconds
begun=$now
while alive && fits && recovers log && [ "$now" -le $((begun + 600)) ]; do
    sleep 0.1
    seconds
done
if alive; then
    if fits; then
        echo "reused $(cat port) $ended"
        exit
    fi
    stop || { ended=killed && clear_dead; }
    how=restarted
elif [ -e data/postmaster.pid ]; then
    clear_dead
fi
outlive
[ "$(stat -c %s log 2>/dev/null || echo 0)" -gt 67108864 ] && mv -f log log.old
conf="# $hash
$conf"
size=$(stat -c %s log 2>/dev/null || echo 0)
for skip in 0 1 2; do
    port=$(free_port "$cluster" "$skip")
    if start "$port"; then
        echo "$port" >port
        echo "$how $port $ended"
        exit
    fi
    tail -c "+$((size + 1))" log | grep -q 'Address already in use' || break
done
[ -e log ] && tail -c "+$((size + 1))" log | tail -n 60 >&2
[ -s data/postmaster.pid ] || [ -s log ] || cat pg_ctl.log >&2
alive && stop
exit 4
