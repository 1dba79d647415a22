# Starts a detached job. $1 directory, $2 deadline in seconds, $3 grace in seconds, $4 working directory,
# $5 the supervisor's text, $6 the file of the directory whose first bytes say that the job has begun its work ('' = wait
# for nothing); the job's own script comes on stdin. Where the same job runs there already, nothing is done.
set -eu
mkdir -p -- "$1"
cd -- "$1"
# The supervisor inherits descriptor 9 and with it the lock: whoever gets the lock knows that the job is over.
exec 9>lock
if ! flock -n 9; then
    [ "$(cat)" != "$(cat script)" ] || exit 0
    echo "a job is still running in $1" >&2
    exit 1
fi
rm -f pid exit started ended
cat >script
printf "%s\n" "$2" >deadline
: >stdout
: >stderr
# setsid -f and not "&": sh starts background commands with SIGINT ignored, and so would be all of the job.
setsid -f sh -c "$5" teiten-job "$1" "$2" "$3" "$4" </dev/null >/dev/null 2>&1
[ -n "$6" ] || exit 0
exec 9>&-
until [ -s "$6" ] || flock -n lock true; do sleep 0.01; done
