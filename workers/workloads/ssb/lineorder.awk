# Orders `first` to `last` as rows for COPY, in the columns of copy_lineorder.sql. -v seed, first, last, customers,
# suppliers, parts, counted (file for the number of rows).
#
# What an order draws for itself, from a state that is a hash of its key and the seed: its date, priority, customer, for
# each line a part and a supplier, and an order form. A form is how many lines there are and, for each, quantity,
# discount, tax, price class, ship mode and days until delivery: 1,925 forms of 1 to 7 lines, 7,700 lines in all, are
# made beforehand as text, so that printing a line costs two draws. They are as few as a processor's cache holds. The
# parts of price class v are v·SHARE + 1 to (v + 1)·SHARE.

function make_forms(   form, line, number, lines, pair, quantity, discount, tax, class, price, revenue, total) {
    vector(FIRST_LINE, FORMS + 1)
    vector(ORDER_TOTAL, FORMS)
    vector(LINE, FORM_LINES)
    vector(PART_BASE, FORM_LINES)
    vector(PROMISE, FORM_LINES)
    split("REG AIR;AIR;RAIL;SHIP;TRUCK;MAIL;FOB", MODE, ";")
    start(1)
    line = 1
    for (form = 1; form <= FORMS; form++) {
        FIRST_LINE[form] = line
        total = 0
        lines = 1 + form % 7
        for (number = 1; number <= lines; number++) {
            pair = line * 201 % 550 # each of the 50 × 11 pairs equally often
            quantity = 1 + pair % 50
            discount = int(pair / 50)
            tax = draw(9)
            class = (line * 37 + int(line / 1100) * 7) % CLASSES # and each price, shifted against the pairs
            price = 90000 + 1200 * class
            revenue = price / 100 * quantity * (100 - discount)
            total += int(revenue * (100 + tax) / 100)
            LINE[line] = number "\t" quantity "\t" discount "\t" tax "\t" MODE[1 + draw(7)] "\t" \
                price * quantity "\t" revenue "\t" price / 10 * 6 "\t"
            PART_BASE[line] = 1 + class * SHARE
            PROMISE[line] = 30 + draw(61)
            line++
        }
        ORDER_TOTAL[form] = "\t0\t" total "\t"
    }
    FIRST_LINE[FORMS + 1] = line
}

function days_and_priorities(   day) {
    for (day = 1; day <= DAYS + LONGEST_PROMISE; day++) DATE[day] = "\t" DATE[day]
    split("\t1-URGENT;\t2-HIGH;\t3-MEDIUM;\t4-NOT SPECIFIED;\t5-LOW", PRIORITY, ";")
}

BEGIN {
    prepare()
    FORMS = 1925
    FORM_LINES = 7700
    CLASSES = 100
    SHARE = parts / CLASSES
    calendar()
    days_and_priorities()
    make_forms()
    OFS = ""
    m = MODULUS
    a = MULTIPLIER
    shift = seed * 1000003 % m
    twist = 1 + seed % 16381
    rows = 0
    for (order = first; order <= last; order++) {
        u = order * 40692 + shift
        u -= int(u / m) * m
        high = int(u / 16384)
        low = u - high * 16384
        u = low * low * (high + twist) + u
        x = u - int(u / (m - 1)) * (m - 1) + 1

        # u - int(u / m) * m is u % m, three times as fast in mawk
        u = x * a
        x = u - int(u / m) * m
        form = 1 + int(x * FORMS / m)
        u = x * a
        x = u - int(u / m) * m
        moment = int(x * 12780 / m)
        day = int(moment / 5)
        priority = 1 + moment - day++ * 5
        u = x * a
        x = u - int(u / m) * m
        head = order "\t" 1 + int(x * customers / m) DATE[day] PRIORITY[priority] ORDER_TOTAL[form]
        end = FIRST_LINE[form + 1]
        for (line = FIRST_LINE[form]; line < end; line++) {
            u = x * a
            y = u - int(u / m) * m
            u = y * a
            x = u - int(u / m) * m
            print head, LINE[line], PART_BASE[line] + int(y * SHARE / m), "\t", 1 + int(x * suppliers / m), \
                DATE[day + PROMISE[line]]
        }
        rows += end - FIRST_LINE[form]
    }
    print rows > counted
}
