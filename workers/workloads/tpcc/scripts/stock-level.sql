-- Clause 2.8.1
\set w CASE WHEN :home_random = 1 THEN random(1, :warehouses) ELSE :client_id % :warehouses + 1 END
\set d random(1, 10)
\set threshold random(10, 20)
SELECT stock_level(:w, :d, :threshold);
