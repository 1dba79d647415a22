-- Clause 2.7, done at once and not deferred: the oldest new order of each district is delivered. A district without one
-- is skipped and counted. A procedure, because the count must not be taken back or counted twice by a retry.
CREATE PROCEDURE delivery(p_warehouse integer, p_carrier integer, INOUT delivered integer)
LANGUAGE plpgsql AS $$
DECLARE
    order_id integer;
    customer_id integer;
    amount numeric;
BEGIN
    delivered := 0;
    FOR this_district IN 1..10 LOOP
        DELETE FROM new_order
         WHERE no_w_id = p_warehouse AND no_d_id = this_district AND no_o_id = (
               SELECT no_o_id
                 FROM new_order
                WHERE no_w_id = p_warehouse AND no_d_id = this_district
                ORDER BY no_o_id
                LIMIT 1
                  FOR UPDATE)
        RETURNING no_o_id INTO order_id;
        CONTINUE WHEN NOT FOUND;
        delivered := delivered + 1;
        UPDATE orders SET o_carrier_id = p_carrier
         WHERE o_w_id = p_warehouse AND o_d_id = this_district AND o_id = order_id
        RETURNING o_c_id INTO customer_id;
        WITH lines AS (
            UPDATE order_line SET ol_delivery_d = current_timestamp
             WHERE ol_w_id = p_warehouse AND ol_d_id = this_district AND ol_o_id = order_id
            RETURNING ol_amount
        )
        SELECT sum(ol_amount) INTO amount FROM lines;
        UPDATE customer SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
         WHERE c_w_id = p_warehouse AND c_d_id = this_district AND c_id = customer_id;
    END LOOP;
    IF delivered < 10 THEN
        COMMIT;
        PERFORM nextval('deliveries_skipped') FROM generate_series(delivered + 1, 10);
    END IF;
END
$$;
