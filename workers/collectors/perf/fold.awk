# Output of `perf script` → "count kind;outermost;…;innermost", and "lost n". First file: the server's processes, a
# line each "pid title". server: the name of its binary, whose functions stand without it behind them.
# POSIX awk (mawk): no intervals, no gensub, no arrays of arrays.

BEGIN {
    # The function that a kind of process lives in, for processes that came and went unlisted.
    split("PostgresMain client backend|exec_replication_command walsender|WalSndLoop walsender|" \
        "ParallelWorkerMain parallel worker|ParallelApplyWorkerMain logical replication worker|" \
        "ApplyWorkerMain logical replication worker|TablesyncWorkerMain logical replication worker|" \
        "ApplyLauncherMain logical replication launcher|AutoVacWorkerMain autovacuum worker|" \
        "AutoVacLauncherMain autovacuum launcher|CheckpointerMain checkpointer|" \
        "BackgroundWriterMain background writer|WalWriterMain walwriter|WalReceiverMain walreceiver|" \
        "StartupProcessMain startup|PgArchiverMain archiver|SysLoggerMain logger|" \
        "PgstatCollectorMain stats collector|IoWorkerMain io worker|WalSummarizerMain walsummarizer|" \
        "ReplSlotSyncWorkerMain slotsync worker|BackgroundWorkerMain background worker|" \
        "StartBackgroundWorker background worker", pairs, "|")
    for (i in pairs) {
        cut = index(pairs[i], " ")
        lives_in[substr(pairs[i], 1, cut - 1)] = substr(pairs[i], cut + 1)
    }
    # A worker of a kind is a background worker too, and a walsender a backend: the more general gives way.
    general["client backend"] = general["background worker"] = 1
}

FILENAME == "processes" { if (title = kind_of_title($0)) listed[$1] = title; next }

/^$/ { finish(); next }

/^\t/ { frame($0); next }

$1 == "LOST_SAMPLES" && NF == 2 { counted += $2; next }

/ PERF_RECORD_LOST/ { recorded += $NF; next }

{
    finish()
    if (!match($0, / +[0-9]+ +[^ ]+: */)) { print "not a line of perf script: " $0 >"/dev/stderr"; broken = 1; exit }
    comm = substr($0, 1, RSTART - 1)
    gsub(/^ +| +$/, "", comm)
    split(substr($0, RSTART, RLENGTH), words, " ")
    pid = words[1]
    sampled = 1
    rest = substr($0, RSTART + RLENGTH)
    if (rest != "") { frame(rest); finish() } # recorded without call graph: the one frame stands on the same line
}

END {
    if (broken) exit 1
    finish()
    for (stack in count) print count[stack], stack
    # the kernel's own count holds what the records say, where it has one
    print "lost", (counted > recorded ? counted : recorded) + 0
}

function finish() {
    if (!sampled) return
    count[kind() (stack == "" ? ";[unknown]" : stack)]++
    sampled = 0
    stack = found = ""
}

# Frames come innermost first.
function frame(line,    symbol, object, name) {
    sub(/^[ \t]*[0-9a-f]+ /, "", line)
    sub(/ \(deleted\)\)$/, ")", line)
    object = ""
    if (match(line, / \([^()]*\)$/)) {
        object = substr(line, RSTART + 2, RLENGTH - 3)
        line = substr(line, 1, RSTART - 1)
    }
    name = named(line, object)
    if (name in lives_in && (found == "" || found in general)) found = lives_in[name]
    stack = ";" name stack
}

function named(symbol, object,    base) {
    base = object
    sub(/.*\//, "", base)
    if (object ~ /^\/\/anon|^\/memfd:|^\/dev\/zero|^\/SYSV|perf-[0-9]+\.map$|^\[(anon|heap|stack|JIT)/)
        base = "generated code"
    else if (object ~ /^\[/ && object !~ /^\[(unknown|vdso|vsyscall)/) base = "kernel" # its image and its modules
    else if (object ~ /\.ko(\.[a-z]+)?$|\/vmlinux/) base = "kernel"
    gsub(/^\[|\]$/, "", base)
    if (base == "") base = "unknown"
    if (symbol == "" || symbol == "[unknown]") return "[" base "]"
    sub(/@.*$/, "", symbol)                # the version of a library's function
    while (sub(/\.(constprop|isra|part|cold|lto_priv|llvm)(\.[0-9]+)*$/, "", symbol)) { } # the compiler's copies
    gsub(/;/, ":", symbol)
    return base == server ? symbol : symbol " [" base "]"
}

# The title knows best, but a worker of an extension is titled by a name of its own, as a client's backend is.
function kind() {
    if ((pid in listed) && (listed[pid] != "client backend" || found == "")) return listed[pid]
    if (found != "") return found
    return comm == server || comm == "postmaster" ? "other process" : "command " comm
}

# "123 postgres: checkpointer" → checkpointer; '' for a process that has no title yet
function kind_of_title(line,    title, i, n, kinds) {
    title = line
    sub(/^[0-9]+ /, "", title)
    if (title == "postmaster") return title
    if (title !~ /^postgres: /) return ""
    sub(/^postgres: /, "", title)
    n = split("checkpointer|background writer|walwriter|autovacuum launcher|autovacuum worker|" \
        "logical replication launcher|startup|archiver|logger|stats collector|walreceiver|walsender|parallel worker|" \
        "io worker|walsummarizer|slotsync worker", kinds, "|")
    for (i = 1; i <= n; i++) if (title ~ ("^([^ ]+: )?" kinds[i])) return kinds[i]
    return title ~ /^([^ ]+: )?logical replication / ? "logical replication worker" : "client backend"
}
