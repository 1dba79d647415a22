# What clusters of Teiten lie below some folders. $@: the folders. Prints lines of words separated by tabs:
# folder KIND HOME REAL     where clusters, wal or tablespaces of a folder really lie
# link PATH                 in place of such a folder: what is behind it is not listed
# entry KIND REAL SECONDS STATE BIN
#                           one of them: since its last use, what it is, the directory of the PostgreSQL that last ran it
# size REAL KB              what it takes on disk
# at REAL                   where a process works
now=$(date +%s)

line() { # its words
    printf '%s' "$1" && shift && printf '\t%s' "$@" && echo
}

age() { # Seconds since any of these files changed.
    last=0
    for changed in $(stat -c %Y -- "$@"); do
        [ "$changed" -le "$last" ] || last=$changed
    done
    [ "$last" -gt 0 ] || last=$now
    echo $((now - last))
}

state() { # What Teiten leaves in a cluster that it makes: its end, or how far it came; in one that it removes.
    if [ -f made ]; then echo whole
    elif [ -f removing ]; then echo removing
    elif [ -f initdb.log ] || [ -f clone.log ]; then echo unfinished
    else echo foreign
    fi
}

one() { # $1 kind, $2 its real path
    case $1 in
    clusters)
        cd -- "$2" || return
        command=
        [ ! -f data/postmaster.opts ] || read -r command <data/postmaster.opts
        case $command in
        *[[:cntrl:]]*) bin= ;;
        *'/postgres "-'*) bin=${command%%/postgres \"-*} ;;
        *) bin= ;;
        esac
        line entry "$1" "$2" "$(age made initdb.log clone.log data/global/pg_control)" "$(state)" "$bin"
        ;;
    *) line entry "$1" "$2" "$(age "$2")" '' '' ;;
    esac
    size=$(du -sk -- "$2")
    line size "$2" "${size%%[!0-9]*}"
}

for home; do
    for kind in clusters wal tablespaces; do
        [ ! -L "$home/$kind" ] || { line link "$home/$kind" && continue; }
        real=$(cd -- "$home/$kind" && pwd -P) && [ "$real" = "$(cd -- "$home" && pwd -P)/$kind" ] || continue
        line folder "$kind" "$home" "$real"
        for path in "$real"/*; do
            # What is behind a link, or another account's, is not Teiten's.
            [ -d "$path" ] && [ ! -L "$path" ] && [ -O "$path" ] || continue
            case ${path##*/} in *[!A-Za-z0-9.+_-]*) continue ;; esac
            (one "$kind" "$path")
        done
    done
done 2>/dev/null
find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -printf 'at\t%l\n' 2>/dev/null | grep '^at' | sort -u
