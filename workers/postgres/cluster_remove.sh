# Removes a cluster that Teiten made, with its WAL and tablespaces in other places. $1 seconds that it may take, $2 the
# cluster's directory, $3 … those of its parts, all as real paths. From its first step on the cluster is made anew by
# whoever needs it. Exit status 3: a process works in it, or another removal is at work; 4: it is not Teiten's; 5: it
# takes longer, and the rest is left. It goes on where its connection is lost: what makes clusters waits for the lock.
limit=$1 cluster=$2
shift

own() { # A link leads elsewhere, and what is there is not Teiten's.
    (enter / "$1") && [ -O "$1" ]
}

remove() { # $1 a path: from the folder that it is in, which no link can take the place of any more
    enter / "${1%/*}"
    case $? in 0) within rm -rf -- "./${1##*/}" ;; 3) ;; *) exit 4 ;; esac
}

within() { # … what is left of the time
    left=$((limit - $(date +%s) + begun))
    [ "$left" -gt 0 ] || exit 5
    timeout -k 5 "$left" "$@"
    status=$?
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || exit 5
    [ "$status" -eq 0 ] || exit 1
}

if [ -d "${cluster%/*}" ]; then # held by every process of this removal
    exec 9>"${cluster%/*}/.removal.lock" || exit
    flock -n 9 || { echo "another removal is at work in ${cluster%/*}" >&2; exit 3; }
fi
begun=$(date +%s)
for folder; do
    [ -e "$folder" ] || [ -L "$folder" ] || continue
    own "$folder" || { echo "$folder is a link, or another account's" >&2; exit 4; }
done
if [ -e "$cluster" ]; then
    users=$(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' \( -lname "$cluster" -o -lname "$cluster/*" \) 2>/dev/null)
    [ -z "$users" ] || { echo "$users" >&2; exit 3; }
    enter / "$cluster" || exit 4
    [ -f made ] || [ -f removing ] || [ -f initdb.log ] || [ -f clone.log ] || {
        echo "$cluster has none of the files that Teiten leaves in a cluster" >&2
        exit 4
    }
    # A long path has its socket elsewhere.
    sockets=$(sed -n "s|^unix_socket_directories = '\(/tmp/teiten-[0-9a-f]*\)'\$|\1|p" data/teiten.conf 2>/dev/null)
    : >removing && rm -f made || exit
    [ -n "$sockets" ] && own "$sockets" && remove "$sockets"
    cd /
fi
shift
for folder in "$@" "$cluster/data" "$cluster"; do remove "$folder"; done
