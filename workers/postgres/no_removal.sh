no_removal() { # In a cluster's directory: waits for a removal in its folder that has outlived its connection.
    exec 9>../.removal.lock && flock -w 200 9 || { echo "clusters beside $PWD are being removed" >&2; exit 1; }
    exec 9>&-
}
