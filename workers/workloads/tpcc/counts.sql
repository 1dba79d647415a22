-- What was done so far: orders by the districts' own numbers, the rest by sequences.
SELECT (SELECT sum(d_next_o_id - 1) FROM district) AS orders,
       (SELECT last_value - (NOT is_called)::integer FROM new_orders_rolled_back) AS rolled_back,
       (SELECT last_value - (NOT is_called)::integer FROM deliveries_skipped) AS deliveries_skipped
