# One pass over a pgbench transaction log:
#   client_id transaction_no latency_us script_no epoch_s microseconds [schedule_lag] [retries]
# where latency_us may be a word (skipped, failed, serialization, deadlock).
# Prints   heat SCRIPT SECOND BUCKET COUNT    second since `origin`, quarter-octave bucket as in results.histogram
#          latency SCRIPT MICROSECONDS COUNT
#          other SCRIPT WORD COUNT
#          damaged LINES                      lines that are no such row, if any
# Rows come in order of time, so counts of the present second are gathered first and spread at its end: the cost of
# a row is one addition. No log() nor fractional powers: a busybox may come without them.

function bucket_of(latency,   bucket) {
    if (latency < 1) return 0
    bucket = 0
    while (latency >= 65536) { latency /= 65536; bucket += 64 }
    while (latency >= 2) { latency /= 2; bucket += 4 }
    if (latency >= 1.681792830507429) return bucket + 3
    if (latency >= 1.4142135623730951) return bucket + 2
    if (latency >= 1.189207115002721) return bucket + 1
    return bucket
}

function spread(   key, part, count, script) {
    for (key in now) {
        count = now[key]
        script = split(key, part, " ") > 1 ? part[2] : 0
        if (part[1] ~ /^[0-9]+$/) {
            heat[script " " second " " bucket_of(part[1] + 0)] += count
            latencies[script " " part[1]] += count
        } else others[script " " part[1]] += count
    }
    split("", now)
}

BEGIN { second = -1; damaged = 0 }

NF < 6 { damaged++; next }

{
    at = int($5 - origin + $6 / 1000000)
    if (at != second) { spread(); second = at }
    if ($4 == 0) now[$3]++
    else now[$3 " " $4]++
}

END {
    spread()
    for (key in heat) print "heat " key " " heat[key]
    for (key in latencies) print "latency " key " " latencies[key]
    for (key in others) print "other " key " " others[key]
    if (damaged) print "damaged " damaged
}
