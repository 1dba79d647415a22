# One pass over the transaction logs of several runs of pgbench, PREFIX.RUN.PID[.THREAD]:
#   client_id transaction_no latency_us script_no epoch_s microseconds …
# Prints   client RUN CLIENT TRANSACTIONS
#          run RUN FIRST LAST                 epoch seconds of its first and last transaction
#          second SECOND TRANSACTIONS SUM_US  whole seconds since `origin`
#          damaged LINES                      lines that are no such row, if any
FNR == 1 { split(FILENAME, part, "."); run = part[2] }

NF < 6 || $3 !~ /^[0-9]+$/ { damaged++; next }

{
    at = $5 + $6 / 1000000
    transactions[run " " $1]++
    if (!(run in first) || at < first[run]) first[run] = at
    if (!(run in last) || at > last[run]) last[run] = at
    second = int(at - origin)
    count[second]++
    sum_us[second] += $3
}

END {
    for (key in transactions) print "client", key, transactions[key]
    for (run in first) printf "run %s %.6f %.6f\n", run, first[run], last[run]
    for (second in count) printf "second %d %d %.0f\n", second, count[second], sum_us[second]
    if (damaged) print "damaged", damaged
}
