# Rows of some parts of one table as COPY reads them, into the files "directory/table.part". A part depends on table,
# part, size and seed alone. Runs in mawk: whole numbers stay below 2^53, those printed by %d and %x below 2^31.
# -v table, directory, seed, customers, items, orders, parts, first, step (the parts first, first + step …)

function draw() { # Lehmer's generator of Park and Miller: 1 … 2^31 - 2
    state = state * 16807 % 2147483647
    return state
}

function hex(words, text) {
    text = ""
    while (words-- > 0) text = text sprintf("%08x", draw())
    return text
}

function upto(limit) { # 1 … limit, by two draws: one has too few values for large tables
    return 1 + (draw() * 1048576 + draw() % 1048576) % limit
}

function customer(id) {
    printf "%.0f\tCustomer %.0f\t%s\t+%010d\t%d.%02d\t%s\n", id, id, hex(4), draw(), draw() % 10000, draw() % 100,
        hex(8) >file
}

function item(id) {
    printf "%.0f\tItem %.0f\t%d.%02d\t%s\n", id, id, draw() % 1000, draw() % 100, hex(6) >file
}

function order(id) {
    printf "%.0f\t%.0f\t%04d-%02d-%02d %02d:%02d:%02d\t%d\t%s\n", id, upto(customers), 2000 + draw() % 25,
        1 + draw() % 12, 1 + draw() % 28, draw() % 24, draw() % 60, draw() % 60, draw() % 5, hex(3) >file
}

function lines(id, number) {
    for (number = 1; number <= 1 + id % 5; number++)
        printf "%.0f\t%d\t%.0f\t%d\t%d.%02d\t%s\n", id, number, upto(items), 1 + draw() % 50, draw() % 10000,
            draw() % 100, hex(3) >file
}

BEGIN {
    count["customer"] = customers; count["item"] = items; count["orders"] = orders; count["order_line"] = orders
    for (part = first; part < parts; part += step) {
        file = directory "/" table "." part
        state = 1 + (seed * 7919 + part * 104729 + length(table) * 1299709) % 2147483646
        draw(); draw(); draw()
        last = int(count[table] * (part + 1) / parts)
        printf "" >file # a small table may have nothing for this part
        for (id = int(count[table] * part / parts) + 1; id <= last; id++) {
            if (table == "customer") customer(id)
            else if (table == "item") item(id)
            else if (table == "orders") order(id)
            else lines(id)
        }
        if (close(file) != 0) exit 1
    }
}
