-- [savepoints]
BEGIN;
UPDATE items SET word = 'kept' WHERE id <= 10;
SAVEPOINT one;
DELETE FROM items WHERE id <= 5;
SAVEPOINT two;
INSERT INTO items VALUES (-1, 1, 'undone');
UPDATE items SET word = 'undone' WHERE id BETWEEN 6 AND 20;
ROLLBACK TO two;
UPDATE items SET word = 'kept too' WHERE id = 11;
ROLLBACK TO one;
UPDATE items SET part = 50 WHERE id = 12;
SAVEPOINT three;
INSERT INTO items VALUES (-2, 2, 'kept');
RELEASE three;
COMMIT;
BEGIN;
UPDATE items SET word = 'undone';
ROLLBACK;
DO $$ BEGIN
    FOR i IN 1..100 LOOP
        BEGIN
            UPDATE items SET part = part + 100 WHERE id = 20 + i;
            IF i % 2 = 0 THEN
                RAISE EXCEPTION 'undo this one';
            END IF;
        EXCEPTION WHEN raise_exception THEN NULL;
        END;
    END LOOP;
END $$;
-- [snapshots: begin]
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM items;
-- [snapshots: change]
UPDATE items SET part = part + 1, word = md5(word) WHERE id % 2 = 0;
DELETE FROM items WHERE id % 5 = 0;
INSERT INTO items VALUES (-1, 1, 'new');
UPDATE items SET word = md5(word) WHERE id % 4 = 0;
VACUUM items;
-- [snapshots: again]
SELECT t::text FROM items AS t;
COMMIT;
-- [snapshots: late update]
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM items;
-- [snapshots: first update]
UPDATE items SET part = part + 1 WHERE id = 1;
-- [snapshots: second update]
UPDATE items SET part = part + 10 WHERE id = 1;
-- [serializable: one]
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sum(part) FROM items WHERE id IN (1, 2);
UPDATE items SET part = -100 WHERE id = 1;
-- [serializable: two]
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT sum(part) FROM items WHERE id IN (1, 2);
UPDATE items SET part = -100 WHERE id = 2;
-- [serializable: phantom one]
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM items WHERE part = 7;
INSERT INTO items VALUES (-1, 8, 'first');
-- [serializable: phantom two]
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM items WHERE part = 8;
INSERT INTO items VALUES (-2, 7, 'second');
-- [commit]
COMMIT;
-- [locks: update]
BEGIN;
SELECT id FROM items WHERE id = 1 FOR UPDATE;
-- [locks: share]
BEGIN;
SELECT id FROM items WHERE id = 2 FOR SHARE;
-- [locks: skip]
SELECT id FROM items WHERE id <= 3 ORDER BY id FOR UPDATE SKIP LOCKED;
-- [locks: share too]
SELECT id FROM items WHERE id = 2 FOR SHARE NOWAIT;
-- [locks: key share]
SELECT id FROM items WHERE id = 4 FOR KEY SHARE NOWAIT;
-- [locks: no key update]
SELECT id FROM items WHERE id = 4 FOR NO KEY UPDATE;
-- [locks: nowait]
\set ON_ERROR_STOP off
SELECT id FROM items WHERE id = 1 FOR UPDATE NOWAIT;
\echo :SQLSTATE
SELECT id FROM items WHERE id = 2 FOR UPDATE NOWAIT;
\echo :SQLSTATE
\set ON_ERROR_STOP on
-- [locks: nowait key]
\set ON_ERROR_STOP off
SELECT id FROM items WHERE id = 4 FOR SHARE NOWAIT;
\echo :SQLSTATE
\set ON_ERROR_STOP on
-- [locks: add]
BEGIN;
UPDATE items SET part = part + 1 WHERE id = 1;
-- [locks: wait and add]
UPDATE items SET part = part + 10 WHERE id = 1;
-- [locks: wait and find none]
DELETE FROM items WHERE id = 1 AND part = 12;
