# $1 whose, $2 how many to pass over. Below the range that the kernel hands out; the one in the file `port` where that is
# free.
free_port() {
    first=$(cat port 2>/dev/null || printf %s "$1" | cksum | awk '{ print 21000 + $1 % 8000 }')
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk -v first="$first" -v skip="$2" '
        $2 ~ /:/ { parts = split($2, address, ":"); used[address[parts]] = 1 }
        END {
            for (i = skip; i < 8000; i++) {
                port = 21000 + (first - 21000 + i) % 8000
                if (!(sprintf("%04X", port) in used)) { print port; exit }
            }
        }'
}
