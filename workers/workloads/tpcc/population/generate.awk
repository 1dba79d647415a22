# Rows of one table of the initial population (TPC-C specification 5.11, clause 4.3.3.1) in COPY's text format.
#   table seed warehouses customers items c_last moment     what to make; customers: of a district
#   worker workers                                          makes every workers-th chunk, from number worker on
# A chunk is a district (a warehouse, a range of stock or items) and has its own stream of random numbers, by seed, table
# and chunk: the rows are the same whatever the number of workers. No rand(): each awk has another one.

# Multiply with carry, base 2^26: 62905071 * 2^26 - 1 is a safe prime, so the period is near 2^51, and every product is
# exact in a double.
function draw(   whole) {
    whole = 62905071 * state + carry
    carry = int(whole / 67108864)
    state = whole - carry * 67108864
    return state
}

function stream(number, chunk,   i) {
    state = seed
    carry = chunk * 16 + number + 1
    for (i = 0; i < 8; i++) draw()
}

function among(low, high) { return low + int(draw() * (high - low + 1) / 67108864) }

# Clause 2.1.6
function bit_or(a, b,   bit, result) {
    result = 0
    for (bit = 1; a || b; bit *= 2) {
        if (a % 2 || b % 2) result += bit
        a = int(a / 2)
        b = int(b / 2)
    }
    return result
}

function nurand(a, low, high, c) { return (bit_or(among(0, a), among(low, high)) + c) % (high - low + 1) + low }

# Texts are windows into one text of random characters, cut at a random place: a random character each would cost more
# than COPY does. One draw gives the length by its upper bits, the place by its lower ones.
function text(least, most,   bits) {
    bits = draw()
    return substr(pool, bits % 32268 + 1, least + int(bits * (most - least + 1) / 67108864))
}

function digits(count) { return substr(numerals, among(1, 4096 - count), count) }

function random_text(alphabet, length_wanted,   block, whole) {
    whole = block = ""
    while (length(whole) < length_wanted) {
        for (block = ""; length(block) < 128;) block = block substr(alphabet, among(1, length(alphabet)), 1)
        whole = whole block
    }
    return whole
}

function maybe_original(data,   at) {
    if (among(1, 10) > 1) return data
    at = among(0, length(data) - 8)
    return substr(data, 1, at) "ORIGINAL" substr(data, at + 9)
}

# Clause 4.3.2.3
function last_name(number) {
    return syllable[int(number / 100)] syllable[int(number / 10) % 10] syllable[number % 10]
}

function address() {
    return text(10, 20) "\t" text(10, 20) "\t" text(10, 20) "\t" substr(letters, among(1, 4000), 2) "\t" digits(4) "11111"
}

function item(chunk,   i, last) {
    last = (chunk + 1) * 10000
    if (last > items) last = items
    for (i = chunk * 10000 + 1; i <= last; i++)
        print i, among(1, 10000), text(14, 24), among(100, 10000) / 100, maybe_original(text(26, 50))
}

function warehouse(chunk) {
    print chunk + 1, text(6, 10), address(), among(0, 2000) / 10000, 100 * customers ".00"
}

function district(chunk) {
    print place(chunk), text(6, 10), address(), among(0, 2000) / 10000, 10 * customers ".00", customers + 1
}

# The number of its district or of its warehouse's, in front of most rows.
function place(chunk) { return chunk % 10 + 1 "\t" int(chunk / 10) + 1 }

function customer(chunk,   c, where, name, credit) {
    where = place(chunk)
    for (c = 1; c <= customers; c++) {
        name = c <= names ? c - 1 : nurand(255, 0, names - 1, c_last)
        credit = among(1, 10) == 1 ? "BC" : "GC"
        print c, where, text(8, 16), "OE", last_name(name), address(), digits(16), moment, credit, "50000.00", \
            among(0, 5000) / 10000, "-10.00", "10.00", 1, 0, text(300, 500)
    }
}

function history(chunk,   c, where) {
    where = place(chunk)
    for (c = 1; c <= customers; c++) print c, where, where, moment, "10.00", text(12, 24)
}

function stock(chunk,   i, first, last, warehouse_id) {
    warehouse_id = int(chunk / ranges) + 1
    first = chunk % ranges * 10000 + 1
    last = first + 9999
    if (last > items) last = items
    for (i = first; i <= last; i++)
        print i, warehouse_id, among(10, 100), substr(infos, among(0, 2000) * 25 + 1, 249), "0\t0\t0", \
            maybe_original(text(26, 50))
}

# How many lines each order of a district has: orders and order_line must agree.
function count_lines(chunk,   o) {
    stream(15, chunk)
    for (o = 1; o <= customers; o++) lines[o] = among(5, 15)
}

function orders(chunk,   o, other, kept, where) {
    count_lines(chunk)
    stream(number, chunk)
    where = place(chunk)
    for (o = 1; o <= customers; o++) buyer[o] = o
    for (o = customers; o > 1; o--) {
        other = among(1, o)
        kept = buyer[o]
        buyer[o] = buyer[other]
        buyer[other] = kept
    }
    for (o = 1; o <= delivered; o++) print o, where, buyer[o], moment, among(1, 10), lines[o], 1
    for (; o <= customers; o++) print o, where, buyer[o], moment, "\\N", lines[o], 1
}

# Most rows are made here: one draw a row gives the item by its upper bits, the text by its lower ones.
function order_line(chunk,   o, line, bits, head, rest, supply) {
    count_lines(chunk)
    stream(number, chunk)
    supply = int(chunk / 10) + 1
    rest = supply "\t" moment "\t5\t0.00"
    for (o = 1; o <= delivered; o++) {
        head = o "\t" place(chunk)
        for (line = 1; line <= lines[o]; line++) {
            bits = draw()
            print head, line, 1 + int(bits * items / 67108864), rest, substr(infos, bits % 2001 * 25 + 1, 24)
        }
    }
    rest = supply "\t\\N\t5"
    for (; o <= customers; o++) {
        head = o "\t" place(chunk)
        for (line = 1; line <= lines[o]; line++)
            print head, line, among(1, items), rest, among(1, 999999) / 100, substr(infos, among(0, 2000) * 25 + 1, 24)
    }
}

function new_order(chunk,   o, where) {
    where = place(chunk)
    for (o = delivered + 1; o <= customers; o++) print o, where
}

function chunks() {
    if (table == "item") return ranges
    if (table == "stock") return ranges * warehouses
    return table == "warehouse" ? warehouses : 10 * warehouses
}

function make(chunk) {
    stream(number, chunk)
    if (table == "item") item(chunk)
    else if (table == "warehouse") warehouse(chunk)
    else if (table == "district") district(chunk)
    else if (table == "customer") customer(chunk)
    else if (table == "history") history(chunk)
    else if (table == "stock") stock(chunk)
    else if (table == "orders") orders(chunk)
    else if (table == "order_line") order_line(chunk)
    else new_order(chunk)
}

BEGIN {
    OFS = "\t"
    split("item warehouse district customer history stock orders order_line new_order", tables, " ")
    for (i in tables) if (tables[i] == table) number = i + 0
    if (!number) exit 2
    split("OUGHT ABLE PRI PRES ESE ANTI CALLY ATION EING", syllable, " ")
    syllable[0] = "BAR"
    names = customers < 1000 ? customers : 1000
    delivered = int(customers * 7 / 10)
    ranges = int((items + 9999) / 10000)
    stream(0, 0)
    pool = random_text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 32768)
    letters = random_text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 4096)
    numerals = random_text("0123456789", 4096)
    for (i = 0; i < 64; i++) {
        for (block = ""; length(block) < 800;) block = block text(24, 24) "\t"
        infos = infos block
    }
    for (chunk = worker; chunk < chunks(); chunk += workers) make(chunk)
}
