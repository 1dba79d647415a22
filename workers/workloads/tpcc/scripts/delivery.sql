-- Clause 2.7.1
\set w CASE WHEN :home_random = 1 THEN random(1, :warehouses) ELSE :client_id % :warehouses + 1 END
\set carrier random(1, 10)
CALL delivery(:w, :carrier, NULL);
