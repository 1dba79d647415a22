# Finds PostgreSQL installations. $1: programs to look for in each, with blanks between them; then roots, bin directories
# or patterns. For each bin directory that holds postgres: "bin DIRECTORY", then "version TEXT" or "broken TEXT",
# "configure OPTIONS", "has PROGRAM" …
programs=$1
shift
IFS=
{
    for pattern in "$@"; do
        for place in $pattern; do # unquoted: a pattern is meant to be expanded
            [ -x "$place/postgres" ] && echo "$place"
            [ -d "$place" ] && find -L "$place" -maxdepth 7 -path '*/bin/postgres' -type f 2>/dev/null
        done
    done
    command -v postgres
    pg_config --bindir 2>/dev/null
    for place in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/local/pgsql/bin; do
        [ -d "$place" ] && echo "$place"
    done
} | sed 's|/postgres$||' | while read -r place; do
    # A link such as /usr/local/bin/postgres is the installation that it leads to.
    server=$(readlink -f -- "$place/postgres") && [ "${server##*/}" = postgres ] && echo "${server%/*}"
done | sort -u | while read -r bin; do
    [ -f "$bin/postgres" ] && [ -x "$bin/postgres" ] || continue
    echo "bin $bin"
    if version=$("$bin/postgres" -V 2>&1 </dev/null); then
        echo "version $version"
    else
        echo "broken $version"
    fi
    [ -x "$bin/pg_config" ] && echo "configure $("$bin/pg_config" --configure 2>/dev/null </dev/null)"
    echo "$programs" | tr ' ' '\n' | while read -r program; do
        [ -x "$bin/$program" ] && echo "has $program"
    done
done
exit 0
