# $1 sar's binary file   $2 the job's directory
cat "$2/started" || exit 1
LC_ALL=C sadf -j "$1" -- -u ALL -P ALL -r -b -d -n DEV -w -q -I SUM || exit 1
rm -f -- "$1"
