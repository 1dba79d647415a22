-- Clause 2.8: how many of the items of the district's last 20 orders are short in the warehouse.
CREATE FUNCTION stock_level(p_warehouse integer, p_district integer, p_threshold integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    next_order integer;
    short bigint;
BEGIN
    SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = p_warehouse AND d_id = p_district;
    SELECT count(DISTINCT s_i_id) INTO short
      FROM order_line JOIN stock ON s_w_id = p_warehouse AND s_i_id = ol_i_id
     WHERE ol_w_id = p_warehouse AND ol_d_id = p_district
       AND ol_o_id >= next_order - 20 AND ol_o_id < next_order
       AND s_quantity < p_threshold;
    RETURN short;
END
$$;
