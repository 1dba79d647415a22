\set aid random(1, :starts)
BEGIN;
UPDATE foo SET val1 = now()::text WHERE id >= :aid AND id < :aid + :span;
END;
