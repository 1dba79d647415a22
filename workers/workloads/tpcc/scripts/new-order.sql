-- Clause 2.4.1. NURand(A, x, y) is ((random(0, A) | random(x, y)) + C) % (y - x + 1) + x; items + 1 is an unused number.
\set w CASE WHEN :home_random = 1 THEN random(1, :warehouses) ELSE :client_id % :warehouses + 1 END
\set d random(1, 10)
\set c ((random(0, 1023) | random(1, :customers)) + :c_customer) % :customers + 1
\set lines random(5, 15)
\set rollback random(1, 100)
\set i1 ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1
\set s1 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q1 random(1, 10)
\set i2 ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1
\set s2 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q2 random(1, 10)
\set i3 ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1
\set s3 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q3 random(1, 10)
\set i4 ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1
\set s4 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q4 random(1, 10)
\set i5 CASE WHEN :rollback = 1 AND :lines = 5 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s5 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q5 random(1, 10)
\set i6 CASE WHEN :rollback = 1 AND :lines = 6 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s6 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q6 random(1, 10)
\set i7 CASE WHEN :rollback = 1 AND :lines = 7 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s7 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q7 random(1, 10)
\set i8 CASE WHEN :rollback = 1 AND :lines = 8 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s8 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q8 random(1, 10)
\set i9 CASE WHEN :rollback = 1 AND :lines = 9 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s9 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q9 random(1, 10)
\set i10 CASE WHEN :rollback = 1 AND :lines = 10 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s10 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q10 random(1, 10)
\set i11 CASE WHEN :rollback = 1 AND :lines = 11 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s11 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q11 random(1, 10)
\set i12 CASE WHEN :rollback = 1 AND :lines = 12 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s12 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q12 random(1, 10)
\set i13 CASE WHEN :rollback = 1 AND :lines = 13 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s13 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q13 random(1, 10)
\set i14 CASE WHEN :rollback = 1 AND :lines = 14 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s14 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q14 random(1, 10)
\set i15 CASE WHEN :rollback = 1 AND :lines = 15 THEN :items + 1 ELSE ((random(0, 8191) | random(1, :items)) + :c_item) % :items + 1 END
\set s15 CASE WHEN :warehouses = 1 OR random(1, 100) > 1 THEN :w ELSE (:w + random(0, :warehouses - 2)) % :warehouses + 1 END
\set q15 random(1, 10)
CALL new_order(:w, :d, :c, :lines, ARRAY[:i1, :i2, :i3, :i4, :i5, :i6, :i7, :i8, :i9, :i10, :i11, :i12, :i13, :i14, :i15]::integer[], ARRAY[:s1, :s2, :s3, :s4, :s5, :s6, :s7, :s8, :s9, :s10, :s11, :s12, :s13, :s14, :s15]::integer[], ARRAY[:q1, :q2, :q3, :q4, :q5, :q6, :q7, :q8, :q9, :q10, :q11, :q12, :q13, :q14, :q15]::integer[], NULL, NULL);
