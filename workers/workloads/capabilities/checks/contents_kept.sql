-- [updates: indexes]
CREATE INDEX items_id ON items (id);
CREATE INDEX items_part ON items (part);
-- [updates: round]
UPDATE items SET part = part + 1, word = md5(word) WHERE id % 2 = 0;
UPDATE items SET word = md5(word) WHERE id % 3 = 0;
-- [updates: moved]
DELETE FROM items WHERE id % 7 = 0;
UPDATE items SET id = id + 1000000 WHERE id % 11 = 0;
INSERT INTO items SELECT i, i % 10, md5(i::text) FROM generate_series(7, :rows, 7) AS i;
-- [updates: query]
SELECT t::text FROM items AS t WHERE part = 9
-- [copy: table]
CREATE TABLE texts (id int NOT NULL, word text, number numeric);
-- [copy: out]
COPY texts TO STDOUT;
-- [copy: out as csv]
COPY texts TO STDOUT WITH (FORMAT csv, NULL 'none');
-- [copy: in]
COPY texts FROM STDIN;
-- [copy: binary]
CREATE TABLE again (LIKE texts);
SELECT current_setting('data_directory') || '/texts.binary' AS file \gset
COPY texts TO :'file' WITH (FORMAT binary);
COPY again FROM :'file' WITH (FORMAT binary);
-- [copy: again]
COPY again TO STDOUT;
-- [on conflict: key]
ALTER TABLE items ADD PRIMARY KEY (id);
-- [on conflict]
INSERT INTO items SELECT i, 0, 'nothing' FROM generate_series(1, :rows + 10) AS i ON CONFLICT DO NOTHING;
INSERT INTO items SELECT i, 100, 'instead' FROM generate_series(1, 60, 3) AS i
    ON CONFLICT (id) DO UPDATE SET part = items.part + excluded.part, word = excluded.word WHERE items.id % 2 = 0;
-- [on conflict: twice]
INSERT INTO items VALUES (1, 1, 'a'), (1, 1, 'b') ON CONFLICT (id) DO UPDATE SET word = excluded.word;
-- [on conflict: insert]
BEGIN;
INSERT INTO items VALUES (-1, 1, 'first');
-- [on conflict: meanwhile]
INSERT INTO items VALUES (-1, 5, 'second') ON CONFLICT (id) DO UPDATE SET part = items.part + excluded.part;
-- [commit]
COMMIT;
-- [foreign keys: tables]
CREATE TABLE orders (id int PRIMARY KEY, item int NOT NULL REFERENCES items ON UPDATE CASCADE);
CREATE TABLE notes (id int PRIMARY KEY, item int NOT NULL REFERENCES items ON DELETE CASCADE ON UPDATE CASCADE);
INSERT INTO orders SELECT i, i FROM generate_series(1, 100) AS i;
INSERT INTO notes SELECT i, i % 200 + 101 FROM generate_series(1, 400) AS i;
-- [foreign keys: no parent]
INSERT INTO orders VALUES (1000, -5);
-- [foreign keys: to no parent]
UPDATE orders SET item = -5 WHERE id = 1;
-- [foreign keys: parent needed]
DELETE FROM items WHERE id = 50;
-- [foreign keys: change]
DELETE FROM items WHERE id BETWEEN 101 AND 150;
UPDATE items SET id = id + 1000000 WHERE id BETWEEN 91 AND 110 OR id BETWEEN 151 AND 160;
-- [foreign keys: child]
BEGIN;
INSERT INTO orders VALUES (1001, 500);
-- [foreign keys: delete parent]
DELETE FROM items WHERE id = 500;
