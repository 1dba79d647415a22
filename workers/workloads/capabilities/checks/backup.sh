# A base backup as the data directory of a cluster that `cluster.ensure` can start. $1 pg_basebackup, $2 the cluster's
# directory. The server is in the environment.
umask 077
mkdir -p -- "$2" && "$1" -D "$2/data" -X stream -c fast --no-sync && : >"$2/made"
