-- Clause 2.6. p_customer: 0 = by the last name of number p_name. Returns the lines of the customer's last order.
CREATE FUNCTION order_status(p_warehouse integer, p_district integer, p_customer integer, p_name integer)
RETURNS TABLE (
    customer integer, balance numeric, order_id integer, entered timestamp, carrier integer,
    item integer, supply integer, quantity integer, amount numeric, delivered timestamp
)
LANGUAGE plpgsql AS $$
BEGIN
    customer := p_customer;
    IF customer = 0 THEN
        customer := customer_by_name(p_warehouse, p_district, p_name);
    END IF;
    SELECT c_balance INTO balance
      FROM customer AS c
     WHERE c_w_id = p_warehouse AND c_d_id = p_district AND c_id = customer;
    SELECT o_id, o_entry_d, o_carrier_id INTO order_id, entered, carrier
      FROM orders
     WHERE o_w_id = p_warehouse AND o_d_id = p_district AND o_c_id = customer
     ORDER BY o_id DESC
     LIMIT 1;
    FOR item, supply, quantity, amount, delivered IN
        SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
          FROM order_line
         WHERE ol_w_id = p_warehouse AND ol_d_id = p_district AND ol_o_id = order_id
    LOOP
        RETURN NEXT;
    END LOOP;
END
$$;
