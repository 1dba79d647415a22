-- What the loaded data is, by index look-ups and the two small tables.
SELECT (SELECT count(*) FROM warehouse) AS warehouses,
       (SELECT count(*) FROM district) AS districts,
       (SELECT max(c_id) FROM customer WHERE c_w_id = 1 AND c_d_id = 1) AS customers_of_the_first_district,
       (SELECT max(c_id) FROM customer WHERE c_w_id = :'warehouses'::integer AND c_d_id = 10)
           AS customers_of_the_last_district,
       (SELECT max(i_id) FROM item) AS items,
       (SELECT max(s_i_id) FROM stock WHERE s_w_id = :'warehouses'::integer) AS stock_of_the_last_warehouse,
       (SELECT count(*) FROM pg_constraint WHERE contype = 'p' AND connamespace = 'public'::regnamespace)
           AS primary_keys,
       (SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace)
           AS foreign_keys,
       current_setting('default_transaction_isolation') AS isolation
