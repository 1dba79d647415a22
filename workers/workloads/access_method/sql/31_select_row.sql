\set aid random(1, :rows)
SELECT * FROM foo WHERE id = :aid;
