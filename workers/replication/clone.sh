# Makes sure that a cluster is a copy of a certain server, for a standby of it. Prints `kept` or `cloned`.
# $1 bin directory, $2 where pg_basebackup is, $3 the cluster's directory, $4 the server's system identifier, $5 `again`:
# a copy that is there is of no use; $6 where its WAL is to lie, '' in its own directory. The server to copy is named by libpq's
# variables. Exit status 3: it cannot be copied; 5: there is a link on the way.
bin=$1 client=$2 cluster=$3 system=$4 again=$5 wal=$6
umask 077

alive() { # Only a process that works in this very directory counts: the pid file may be of a server long dead.
    [ -s data/postmaster.pid ] && read -r pid <data/postmaster.pid &&
        [ "$(readlink "/proc/$pid/cwd")" = "$(cd data && pwd -P)" ]
}

enter_cluster "$cluster" && no_removal && enter_cluster "$cluster" || give_up $?
if [ -z "$again" ] && [ -e made ] && [ -e data/standby.signal ] && [ "$(cat copy-of 2>/dev/null)" = "$system" ]; then
    echo kept
    exit
fi
alive && { "$bin/pg_ctl" stop -D data -m immediate -w -t 60 >pg_ctl.log 2>&1 || { cat pg_ctl.log >&2; exit 1; }; }
rm -rf data made removing copy-of
[ -z "$wal" ] || { make_room "$wal" && mkdir -p -- "$wal"; } || give_up $?
"$client/pg_basebackup" -D data -X stream -c fast -w ${wal:+--waldir="$wal"} >clone.log 2>&1 || {
    cat clone.log >&2
    rm -rf data
    exit 3
}
: >data/standby.signal && printf '%s\n' "$system" >copy-of && : >made && echo cloned
