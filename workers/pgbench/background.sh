# Runs one piece of work in a session that is idle until its moment. Begins with until.sh. $1 epoch seconds by this
# machine's clock, $2 psql's input, $3 … psql and its options. SIGINT ends the wait, or has psql cancel its statement on
# the server, and psql's end is awaited either way.
moment=$1 input=$2
shift 2
trap : INT
{ wait_until "$moment" && printf '%s\n' "$input"; } | "$@"
