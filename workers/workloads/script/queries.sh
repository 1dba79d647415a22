# Runs the same psql script as several clients at once, each with files of its own in the working directory.
# $1 clients, $2 psql, $3 database, $4 the script, $5 the scale. Ends with the status of a client that failed.
client=1
clients=
while [ "$client" -le "$1" ]; do
    (
        "$2" -X -q -A -t -v ON_ERROR_STOP=1 -v "scale=$5" -d "$3" -f "$4" >"client-$client.stdout" 2>"client-$client.stderr"
        echo $? >"client-$client.exit"
    ) &
    clients="$clients $!"
    client=$((client + 1))
done
# word splitting is meant: a process id a word
for process in $clients; do wait "$process"; done
status=0
client=1
while [ "$client" -le "$1" ]; do
    read -r ended <"client-$client.exit" || ended=1
    [ "$ended" -eq 0 ] || status=$ended
    client=$((client + 1))
done
exit "$status"
