# Runs pgpool-II in the foreground of a job. PGPOOL the program, SOCKETS the directory of its sockets, DIRECTORY that of
# its files, LOG its log.
umask 077
mkdir -p -- "$SOCKETS" "$DIRECTORY/oid" && cd -- "$DIRECTORY" || exit
"$PGPOOL" -n -f "$DIRECTORY/pgpool.conf" -F "$DIRECTORY/pcp.conf" -a "$DIRECTORY/pool_hba.conf" >"$LOG" 2>&1 &
pgpool=$!
# It waits for its clients when it is asked by TERM, as jobs are ended; not when it is asked by INT.
trap 'kill -s INT "$pgpool"' TERM INT
wait "$pgpool"
status=$?
while kill -0 "$pgpool" 2>/dev/null; do
    wait "$pgpool"
    status=$?
done
# One that was killed leaves its children, who hold its shared memory.
awk -v owner="$pgpool" 'NR > 1 && $5 == owner { print $2 }' /proc/sysvipc/shm | while read -r segment; do
    ipcrm -m "$segment"
done
rm -rf -- "$SOCKETS"
exit "$status"
