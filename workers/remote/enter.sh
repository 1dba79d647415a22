# Before a script that removes files. What a trial ran as the same account may have put a link, to folders that are not
# Teiten's, where Teiten made one.
enter() { # Goes into a folder. $1 a folder as its operator named it, $2 the way below it, on which no link is followed.
    # Who removes by names in it, without a '/', removes there, whatever takes the folder's place meanwhile.
    # Status 3: there is none; 4: there is a link.
    unset CDPATH
    [ -d "$1" ] || return 3
    cd -P -- "$1" || return
    entered=$2
    while [ -n "$entered" ]; do
        part=${entered%%/*}
        case $entered in */*) entered=${entered#*/} ;; *) entered= ;; esac
        [ -n "$part" ] || continue
        above=$(pwd -P)
        if [ -L "./$part" ]; then
            echo "${above%/}/$part is a link" >&2
            return 4
        fi
        [ -e "./$part" ] || return 3
        cd -P -- "./$part" || return
        [ "$(pwd -P)" = "${above%/}/$part" ] || {
            echo "${above%/}/$part was a folder and is a link" >&2
            return 4
        }
    done
}
