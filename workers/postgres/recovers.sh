recovers() { # $1 log: whether its server has crashed since it started, and recovers. A fast shutdown that is asked for
    # then never ends (seen of 16 and 18). To stop it at once loses nothing: it recovers at its next start.
    last=$(tail -c 1048576 "$1" | LC_ALL=C grep -E 'starting PostgreSQL|terminated; reinitializing|ready to accept' |
        tail -n 1)
    case $last in *reinitializing) ;; *) return 1 ;; esac
} 2>/dev/null
