# Ends whatever works in certain clusters and removes them. $1 the directory of all clusters, $2 a part of the names of
# those meant.
enter "${1%/*}" "${1##*/}"
case $? in 0) ;; 3) exit 0 ;; *) exit 1 ;; esac

users() { # Processes that work in a directory or below it: servers, their backends, initdb.
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' \( -lname "$1" -o -lname "$1/*" \) 2>/dev/null
}

end() { # $1 directory
    for process in $(users "$1"); do
        process=${process#/proc/}
        kill -s KILL "${process%/cwd}"
    done 2>/dev/null
}

for cluster in *"$2"*; do
    [ -d "$cluster" ] && [ ! -L "$cluster" ] || continue
    home=$(cd "$cluster" && pwd -P)
    # A long path has its socket elsewhere.
    own="s|^unix_socket_directories = '\(/tmp/teiten-[0-9a-f]*\)'\$|\1|p"
    sockets=$(sed -n "$own" "$cluster/data/teiten.conf" 2>/dev/null)
    pid=
    [ -s "$cluster/data/postmaster.pid" ] && read -r pid <"$cluster/data/postmaster.pid"
    if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$home/data" ]; then
        kill -s QUIT "$pid" # what pg_ctl sends for immediate: the server gives its shared memory back
    else
        end "$home"
    fi
    seconds
    begun=$now
    while [ -n "$(users "$home")" ] && [ "$now" -le $((begun + 20)) ]; do
        [ "$now" -gt $((begun + 10)) ] && end "$home"
        sleep 0.05
        seconds
    done
    rm -rf -- "./$cluster"
    [ -n "$sockets" ] && rm -rf -- "$sockets"
done
exit 0
