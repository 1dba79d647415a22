give_up() { # $1 the status of what failed. Exits with 5 where that found a link on the way.
    [ "$1" -ne 4 ] || exit 5
    exit 1
}

enter_cluster() { # $1 its directory, which is made, of no link
    mkdir -p -- "$1" && enter "${1%/clusters/*}" "clusters/${1##*/}"
}

make_room() { # $1 a folder for WAL: removes what is there, and makes the folder above
    (
        mkdir -p -- "${1%/*}" && enter "${1%/wal/*}" wal && rm -rf -- "./${1##*/}"
    )
}

no_removal() { # In a cluster's directory: waits for a removal in its folder that has outlived its connection.
    exec 9>../.removal.lock && flock -w 200 9 || { echo "clusters beside $PWD are being removed" >&2; exit 1; }
    exec 9>&-
}
