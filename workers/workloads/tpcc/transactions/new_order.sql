-- Clause 2.4. Items, supplying warehouses and quantities: the first p_lines of each array count.
-- A procedure, because an unused item number must roll back what was done so far (2.4.1.4) and not break off the client.
CREATE PROCEDURE new_order(
    p_warehouse integer, p_district integer, p_customer integer, p_lines integer,
    p_items integer[], p_supply integer[], p_quantities integer[],
    INOUT order_id integer, INOUT total numeric
)
LANGUAGE plpgsql AS $$
DECLARE
    customers record;
    tax numeric;
    line record;
    article record;
    part record;
    amount numeric;
    unused boolean := false;
BEGIN
    total := 0;
    SELECT c_discount, c_last, c_credit, w_tax INTO customers
      FROM warehouse JOIN customer ON c_w_id = w_id
     WHERE w_id = p_warehouse AND c_d_id = p_district AND c_id = p_customer;
    UPDATE district SET d_next_o_id = d_next_o_id + 1
     WHERE d_w_id = p_warehouse AND d_id = p_district
    RETURNING d_next_o_id - 1, d_tax INTO order_id, tax;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (order_id, p_district, p_warehouse, p_customer, current_timestamp, NULL, p_lines,
            (p_warehouse = ALL (p_supply[1:p_lines]))::integer);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, p_district, p_warehouse);
    -- Everybody locks stock in the same order, so that no two wait for each other.
    FOR line IN
        SELECT item, supply, quantity, number
          FROM unnest(p_items, p_supply, p_quantities) WITH ORDINALITY AS given (item, supply, quantity, number)
         WHERE number <= p_lines
         ORDER BY supply, item
    LOOP
        SELECT i_price, i_name, i_data INTO article FROM item WHERE i_id = line.item;
        unused := NOT FOUND;
        EXIT WHEN unused;
        UPDATE stock
           SET s_quantity = CASE WHEN s_quantity >= line.quantity + 10 THEN s_quantity - line.quantity
                                 ELSE s_quantity - line.quantity + 91 END,
               s_ytd = s_ytd + line.quantity,
               s_order_cnt = s_order_cnt + 1,
               s_remote_cnt = s_remote_cnt + (line.supply <> p_warehouse)::integer
         WHERE s_w_id = line.supply AND s_i_id = line.item
        RETURNING s_quantity, s_data, CASE p_district
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS info
             INTO part;
        amount := line.quantity * article.i_price;
        total := total + amount;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
                                ol_quantity, ol_amount, ol_dist_info)
        VALUES (order_id, p_district, p_warehouse, line.number, line.item, line.supply, NULL,
                line.quantity, amount, part.info);
    END LOOP;
    IF unused THEN
        ROLLBACK;
        PERFORM nextval('new_orders_rolled_back');
        total := NULL;
        RETURN;
    END IF;
    total := total * (1 - customers.c_discount) * (1 + customers.w_tax + tax);
END
$$;
