# Waits for a moment, notes when it was, and becomes the program. Begins with until.sh.
# $1 epoch seconds by this machine's clock, $2 file for the moment, $3 ... the program and its words.
moment=$1 file=$2
shift 2
wait_until "$moment" || exit
date +%s.%N >"$file"
exec "$@"
