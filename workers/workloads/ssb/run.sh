# All clients at once: one psql, one session, its own sequence of queries. Client n has n.sql here and leaves n.stdout,
# n.stderr, n.exit. The first that fails is named in `failed`; the others are ended.
# They are ended by TERM: a psql that is still connecting does not hear INT.
# $1 psql  $2 database  $3 clients
rm -f failed ended
mkfifo ended
exec 3<>ended
client=0
while [ "$client" -lt "$3" ]; do
    client=$((client + 1))
    {
        "$1" -X -q -A -t -v ON_ERROR_STOP=1 -d "$2" -f "$client.sql" >"$client.stdout" 2>"$client.stderr" 3>&- &
        echo $! >"$client.pid"
        [ ! -e failed ] || kill -s TERM $!
        wait $!
        status=$?
        echo "$status" >"$client.exit"
        echo "$client $status" >&3
    } &
done
running=$3
while [ "$running" -gt 0 ]; do
    read -r client status <&3
    running=$((running - 1))
    if [ "$status" -ne 0 ] && [ ! -e failed ]; then
        echo "$client" >failed
        for file in *.pid; do
            [ -e "${file%.pid}.exit" ] || kill -s TERM "$(cat "$file")"
        done
    fi
done
[ -e failed ] || exit 0
client=$(cat failed)
{
    sed -n 's/^== \([0-9]*\) \(.*\)/\2, pass \1:/p' "$client.stdout" | tail -n 1
    awk '/^psql:/ { chatter = /: (DEBUG|LOG|INFO|NOTICE):  / } !chatter' "$client.stderr"
} >&2
exit 1
