\set aid random(1, :starts)
SELECT * FROM foo WHERE id >= :aid AND id < :aid + :span;
