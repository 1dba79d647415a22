-- Clause 2.5. p_customer: 0 = by the last name of number p_name. Returns the customer's new balance.
CREATE FUNCTION payment(
    p_warehouse integer, p_district integer, p_customer_warehouse integer, p_customer_district integer,
    p_customer integer, p_name integer, p_cents integer
) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
    amount numeric := p_cents * 0.01;
    customer_id integer := p_customer;
    warehouse_name text;
    district_name text;
    balance numeric;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = p_warehouse RETURNING w_name INTO warehouse_name;
    UPDATE district SET d_ytd = d_ytd + amount
     WHERE d_w_id = p_warehouse AND d_id = p_district
    RETURNING d_name INTO district_name;
    IF customer_id = 0 THEN
        customer_id := customer_by_name(p_customer_warehouse, p_customer_district, p_name);
    END IF;
    UPDATE customer
       SET c_balance = c_balance - amount,
           c_ytd_payment = c_ytd_payment + amount,
           c_payment_cnt = c_payment_cnt + 1,
           c_data = CASE WHEN c_credit = 'BC'
                         THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, p_district, p_warehouse, amount, c_data), 500)
                         ELSE c_data END
     WHERE c_w_id = p_customer_warehouse AND c_d_id = p_customer_district AND c_id = customer_id
    RETURNING c_balance INTO balance;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (customer_id, p_customer_district, p_customer_warehouse, p_district, p_warehouse, current_timestamp, amount,
            warehouse_name || '    ' || district_name);
    RETURN balance;
END
$$;
