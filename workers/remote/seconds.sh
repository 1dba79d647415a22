seconds() { # Since the machine was started: neither the clock's steps nor the slow loops of a busy machine count.
    read -r now _ </proc/uptime
    now=${now%.*}
}
