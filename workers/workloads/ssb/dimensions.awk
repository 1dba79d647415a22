# One dimension as rows for COPY, in the columns of its table. -v table, seed, customers, suppliers, parts, counted
# (file for the number of rows).
#
# Each of the 250 cities has equally many customers and suppliers, each of the 1,000 brands equally many parts, as far as
# the numbers divide: a query's share of the facts depends little on the seed.

function nations(   regions, names, region, nation) {
    split("AFRICA;AMERICA;ASIA;EUROPE;MIDDLE EAST", regions, ";")
    split("ALGERIA;ETHIOPIA;KENYA;MOROCCO;MOZAMBIQUE;" \
        "ARGENTINA;BRAZIL;CANADA;PERU;UNITED STATES;" \
        "CHINA;INDIA;INDONESIA;JAPAN;VIETNAM;" \
        "FRANCE;GERMANY;ROMANIA;RUSSIA;UNITED KINGDOM;" \
        "EGYPT;IRAN;IRAQ;JORDAN;SAUDI ARABIA", names, ";")
    for (nation = 1; nation <= 25; nation++) {
        NATION[nation] = names[nation]
        REGION[nation] = regions[1 + int((nation - 1) / 5)]
    }
}

# name, address, city, nation, region, phone of customer or supplier `key`. offset: where the cities begin for this seed.
function somebody(kind, key, offset,   city, nation) {
    city = (key * 107 + offset) % 250
    nation = 1 + int(city / 10)
    return key "\t" kind "#" sprintf("%09d", key) "\t" address() "\t" \
        sprintf("%-9.9s%d", NATION[nation], city % 10) "\t" NATION[nation] "\t" REGION[nation] "\t" \
        sprintf("%d-%03d-%03d-%04d", 9 + nation, 100 + draw(900), 100 + draw(900), 1000 + draw(9000))
}

function address(   text, left) {
    text = ""
    for (left = 10 + draw(16); left > 0; left--) text = text substr(LETTERS, 1 + draw(62), 1)
    return text
}

function customer_rows(   key, offset) {
    split("AUTOMOBILE;BUILDING;FURNITURE;MACHINERY;HOUSEHOLD", SEGMENT, ";")
    start(2)
    offset = draw(250)
    for (key = 1; key <= customers; key++) print somebody("Customer", key, offset), SEGMENT[1 + draw(5)]
    return customers
}

function supplier_rows(   key, offset) {
    start(3)
    offset = draw(250)
    for (key = 1; key <= suppliers; key++) print somebody("Supplier", key, offset)
    return suppliers
}

function part_rows(   key, offset, brand, category, color) {
    split("almond;amber;apricot;aqua;ash;auburn;azure;beige;black;blue;blush;bronze;brown;buff;cerise;charcoal;cherry;" \
        "chestnut;chocolate;cinnamon;citron;claret;cobalt;copper;coral;cream;crimson;cyan;denim;ebony;ecru;emerald;" \
        "fawn;flame;flax;fuchsia;garnet;ginger;gold;grape;gray;green;hazel;honey;indigo;ivory;jade;jasmine;khaki;" \
        "lavender;lemon;lilac;lime;linen;magenta;mahogany;maize;maroon;mauve;mint;moss;mustard;navy;ochre;olive;orange;" \
        "orchid;peach;pear;pearl;pine;pink;plum;purple;red;rose;ruby;rust;saffron;sage;salmon;sand;sapphire;scarlet;" \
        "sepia;silver;slate;tan;teal;topaz;umber;violet;white;yellow", COLOR, ";")
    split("STANDARD;SMALL;MEDIUM;LARGE;ECONOMY;PROMO", KIND, ";")
    split("ANODIZED;BURNISHED;PLATED;POLISHED;BRUSHED", FINISH, ";")
    split("TIN;NICKEL;BRASS;STEEL;COPPER", METAL, ";")
    split("SM;LG;MED;JUMBO;WRAP", SIZE, ";")
    split("CASE;BOX;BAG;JAR;PKG;PACK;CAN;DRUM", BOX, ";")
    start(4)
    offset = draw(1000)
    for (key = 1; key <= parts; key++) {
        brand = (key * 373 + offset) % 1000
        category = "MFGR#" 1 + int(brand / 200) 1 + int(brand / 40) % 5
        color = COLOR[1 + draw(94)]
        print key, color " " COLOR[1 + draw(94)], substr(category, 1, 6), category, category 1 + brand % 40, color, \
            KIND[1 + draw(6)] " " FINISH[1 + draw(5)] " " METAL[1 + draw(5)], 1 + draw(50), \
            SIZE[1 + draw(5)] " " BOX[1 + draw(8)]
    }
    return parts
}

function date_rows(   day, date, year, month, of_month, of_year, of_week) {
    split("January;February;March;April;May;June;July;August;September;October;November;December", MONTH, ";")
    split("Sunday;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday", WEEKDAY, ";")
    split("Winter;Winter;Spring;Spring;Spring;Summer;Summer;Summer;Fall;Fall;Christmas;Christmas", SEASON, ";")
    calendar()
    for (day = 1; day <= DAYS; day++) {
        date = DATE[day]
        year = int(date / 10000)
        month = int(date / 100) % 100
        of_month = date % 100
        of_year = month == 1 && of_month == 1 ? 1 : of_year + 1
        of_week = 1 + (day + 2) % 7 # 1992-01-01 was a Wednesday, day 4 of a week that begins on Sunday
        # in print, a bare > would write into a file
        print date, MONTH[month] " " of_month ", " year, WEEKDAY[of_week], MONTH[month], year, \
            year * 100 + month, substr(MONTH[month], 1, 3) year, of_week, of_month, of_year, month, \
            1 + int((of_year - 1) / 7), SEASON[month], of_week == 7 ? 1 : 0, \
            of_month == length_of(month, year) ? 1 : 0, index(HOLIDAYS, sprintf(" %02d%02d ", month, of_month)) ? 1 : 0, \
            (of_week > 1 && of_week < 7) ? 1 : 0
    }
    return DAYS
}

BEGIN {
    prepare()
    OFS = "\t"
    LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    HOLIDAYS = " 0101 0214 0501 0704 1031 1111 1224 1225 1226 1231 "
    nations()
    if (table == "customer") rows = customer_rows()
    else if (table == "supplier") rows = supplier_rows()
    else if (table == "part") rows = part_rows()
    else if (table == "date") rows = date_rows()
    else exit 2
    print rows > counted
}
