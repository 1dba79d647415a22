# Waits for a moment: $1 epoch seconds by this machine's clock.
wait_until() {
    sleep "$(date +%s.%N | awk -v moment="$1" '{ left = moment - $1; printf "%.6f", (left > 0 ? left : 0) }')"
}
