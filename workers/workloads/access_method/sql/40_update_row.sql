\set aid random(1, :rows)
BEGIN;
UPDATE foo SET val1 = now()::text WHERE id = :aid;
END;
