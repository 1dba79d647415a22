\set aid random(1, :rows)
UPDATE grown SET val1 = md5(val1) WHERE id = :aid;
