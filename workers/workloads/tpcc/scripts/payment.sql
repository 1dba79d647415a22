-- Clause 2.5.1: 15 % of the customers are another warehouse's, 60 % are chosen by last name (c = 0).
\set w CASE WHEN :home_random = 1 THEN random(1, :warehouses) ELSE :client_id % :warehouses + 1 END
\set d random(1, 10)
\set remote CASE WHEN :warehouses > 1 AND random(1, 100) > 85 THEN 1 ELSE 0 END
\set cw CASE WHEN :remote = 1 THEN (:w + random(0, :warehouses - 2)) % :warehouses + 1 ELSE :w END
\set cd CASE WHEN :remote = 1 THEN random(1, 10) ELSE :d END
\set c CASE WHEN random(1, 100) <= 60 THEN 0 ELSE ((random(0, 1023) | random(1, :customers)) + :c_customer) % :customers + 1 END
\set name ((random(0, 255) | random(0, :names - 1)) + :c_last) % :names
\set cents random(100, 500000)
SELECT payment(:w, :d, :cw, :cd, :c, :name, :cents);
