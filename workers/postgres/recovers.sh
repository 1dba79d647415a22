recovers() { # $1 pid of the postmaster, $2 data directory: whether it recovers from a crash, where it is no standby.
    # A fast shutdown that is asked for then never ends (seen of 16 and 18). To stop it at once loses nothing: it
    # recovers at its next start. Before it begins to recover it has no checkpointer.
    for standby in standby.signal recovery.signal recovery.conf; do
        [ ! -e "$2/$standby" ] || return 1
    done
    children=/proc/$1/task/$1/children serves=
    [ -e "$children" ] || return 1
    for child in $(cat "$children"); do
        case $(tr '\0' ' ' <"/proc/$child/cmdline") in
        "postgres: startup "* | "postgres: "*": startup "*) return ;; # after the setting cluster_name
        "postgres: "*"checkpointer "*) serves=1 ;;
        esac
    done
    [ -z "$serves" ]
} 2>/dev/null
