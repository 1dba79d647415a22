# $1 sar's binary file
LC_ALL=C sadf -j "$1" -- -u ALL -P ALL -r -b -d -n DEV -w -q -I SUM
