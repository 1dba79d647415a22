-- Clause 2.6.1: 60 % of the customers are chosen by last name (c = 0).
\set w CASE WHEN :home_random = 1 THEN random(1, :warehouses) ELSE :client_id % :warehouses + 1 END
\set d random(1, 10)
\set c CASE WHEN random(1, 100) <= 60 THEN 0 ELSE ((random(0, 1023) | random(1, :customers)) + :c_customer) % :customers + 1 END
\set name ((random(0, 255) | random(0, :names - 1)) + :c_last) % :names
SELECT * FROM order_status(:w, :d, :c, :name);
