# Asks an installation what it really has, by a cluster that is thrown away. $1 bin directory, $2 version number,
# $3 a directory for such clusters. Prints lines "am NAME", "extension NAME", "jit t", and of each setting
# "setting NAME|TYPE|UNIT|CONTEXT|LEAST|MOST|VALUES", the values of an enum with commas.
umask 077
mkdir -p -- "$3" && probe=$(mktemp -d "$3/probe.XXXXXX") || exit
trap 'rm -rf "$probe"' EXIT
trap 'exit 1' HUP INT TERM
"$1/initdb" -D "$probe/data" -U teiten --auth=trust --no-locale --encoding=UTF8 -N >"$probe/log" 2>&1 || {
    cat "$probe/log" >&2
    exit 3
}
{
    [ "$2" -ge 120000 ] && echo "SELECT 'am ' || amname AS line FROM pg_am WHERE amtype = 't'"
    [ "$2" -ge 110000 ] && echo "SELECT 'jit ' || pg_jit_available()::text AS line"
    echo "SELECT 'setting ' || concat_ws('|', name, vartype, coalesce(unit, ''), context, coalesce(min_val, '')," \
        "coalesce(max_val, ''), coalesce(array_to_string(enumvals, ','), '')) AS line FROM pg_settings"
    echo "SELECT 'extension ' || name AS line FROM pg_available_extensions"
} | "$1/postgres" --single -D "$probe/data" postgres 2>"$probe/log" | sed -n 's/^.*line = "\([^"]*\)".*$/\1/p'
grep -E 'FATAL|PANIC' "$probe/log" >&2 && exit 4
# One unreadable control file makes the server refuse the whole list: then the files' names have to do.
if grep -q 'ERROR.*\.control' "$probe/log"; then
    find -L "$1/.." -maxdepth 5 -name '*.control' | sed 's|^.*/|extension |; s|\.control$||'
fi
exit 0
