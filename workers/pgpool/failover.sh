# What pgpool-II runs when it gives a server up: promotes another if that was the primary, and waits until it is one.
# $1 which was given up, $2 which was the primary, $3 which is to be, by their numbers; $4 and $5 its host and port.
# Leaves `promotion`: its number, and when it was told and was a primary (epoch seconds by its own clock).
cd -- "$DIRECTORY" && [ "$1" = "$2" ] || exit 0
{
    echo "node $3"
    PGHOST=$4 PGPORT=$5 "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d postgres -f promote.sql
} >promotion.part 2>promotion.log
status=$?
mv promotion.part promotion
exit "$status"
