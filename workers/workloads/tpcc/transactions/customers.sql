-- Clause 4.3.2.3: the last name of a number from 0 to 999.
CREATE FUNCTION last_name(number integer) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT syllable[number / 100 + 1] || syllable[number / 10 % 10 + 1] || syllable[number % 10 + 1]
      FROM (SELECT '{BAR,OUGHT,ABLE,PRI,PRES,ESE,ANTI,CALLY,ATION,EING}'::text[] AS syllable) AS syllables
$$;

-- Clauses 2.5.2.2 and 2.6.2.2: of all customers of that name, in order of the first name, the one in the middle,
-- rounded up.
CREATE FUNCTION customer_by_name(p_warehouse integer, p_district integer, p_name integer) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
DECLARE
    found integer[];
BEGIN
    SELECT array_agg(c_id ORDER BY c_first) INTO found
      FROM customer
     WHERE c_w_id = p_warehouse AND c_d_id = p_district AND c_last = last_name(p_name);
    IF found IS NULL THEN
        RAISE 'no customer of warehouse %, district % is called %', p_warehouse, p_district, last_name(p_name);
    END IF;
    RETURN found[(cardinality(found) + 1) / 2];
END
$$;
