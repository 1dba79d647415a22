# COPY of the rows that lie in $1/TABLE.rows, one table after the other. Prints TABLE SECONDS for each.
# PSQL, DATABASE, ACCESS_METHOD and libpq's variables are in the environment; the directory holds tables.sql.
cd -- "$1" || exit
ask() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d "$DATABASE" "$@"; }
ask -v access_method="$ACCESS_METHOD" -f tables.sql || exit
for table in item warehouse district customer history stock orders order_line new_order; do
    begun=$(date +%s.%N)
    ask -c "COPY $table FROM STDIN" <"$table.rows" || exit
    date +%s.%N | awk -v table="$table" -v begun="$begun" '{ printf "%s %.6f\n", table, $1 - begun }'
done
