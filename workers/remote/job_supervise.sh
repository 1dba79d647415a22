# Runs a job in a session of its own and writes down how it ended. $1 directory, $2 deadline, $3 grace, $4 working
# directory. TEITEN_JOB marks every process of the job, also those that leave its process group.
export TEITEN_JOB="$1"
directory=$1 deadline=$2 grace=$3 work=$4
export directory deadline grace work
date +%s.%N >started # stays where the job is ended before it has begun
setsid sh -c '
    cd "$work" || exit 125
    echo $$ >"$directory/pid.part"
    mv "$directory/pid.part" "$directory/pid"
    date +%s.%N >"$directory/started.part" && mv "$directory/started.part" "$directory/started"
    script=$directory/script limit=$deadline patience=$grace
    unset directory deadline grace work
    exec timeout -k "$patience" "$limit" sh "$script"
' 9>&- >stdout 2>stderr
status=$?
date +%s.%N >ended
read -r group <pid && kill -s KILL -- "-$group"
for environment in $(grep -lzxF -e "TEITEN_JOB=$directory" /proc/[0-9]*/environ); do
    process=${environment#/proc/}
    process=${process%/environ}
    [ "$process" = $$ ] || kill -s KILL "$process"
done
echo "$status" >exit.part
mv exit.part exit
