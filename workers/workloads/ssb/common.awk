# Random numbers, calendar and lists that both generators share. Every intermediate is a whole number below 2^53, which
# awk's doubles hold exactly: the same rows come out of any awk, and out of any language that repeats these lines.
#
# MODULUS is the prime 2^28 - 57. MULTIPLIER is a primitive root of it below 2^25, the best of 1,500 drawn by the
# spectral test in two to five dimensions (0.73 of what any lattice reaches).

function prepare() {
    MODULUS = 268435399
    MULTIPLIER = 26887936
    DAYS = 2556 # 1992-01-01 to 1998-12-30
    LONGEST_PROMISE = 90
}

# A stream of its own for each seed and table.
function start(stream) {
    state = 1 + (seed * 1000003 + stream * 7654321) % (MODULUS - 1)
}

# A whole number from 0 to n - 1; n up to 2^24.
function draw(n) {
    state *= MULTIPLIER
    state -= int(state / MODULUS) * MODULUS
    return int(state * n / MODULUS)
}

# An array 1 … n that mawk keeps as a vector, not as a hash: only split() makes one.
function vector(array, n,   separators) {
    separators = ";"
    while (length(separators) < n - 1) separators = separators separators
    split(substr(separators, 1, n - 1), array, ";")
}

# DATE[1 … DAYS]: yyyymmdd. Whatever lies beyond is the last day.
function calendar(   day, year, month, of_month) {
    vector(DATE, DAYS + LONGEST_PROMISE)
    year = 1992
    month = of_month = 1
    for (day = 1; day <= DAYS; day++) {
        DATE[day] = year * 10000 + month * 100 + of_month
        if (++of_month > length_of(month, year)) {
            of_month = 1
            if (++month > 12) {
                month = 1
                year++
            }
        }
    }
    for (; day <= DAYS + LONGEST_PROMISE; day++) DATE[day] = DATE[DAYS]
}

function length_of(month, year) {
    if (month == 2) return year % 4 ? 28 : 29
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31
}
