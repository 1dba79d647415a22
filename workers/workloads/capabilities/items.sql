CREATE TABLE items (id int NOT NULL, part int NOT NULL, word text NOT NULL);
INSERT INTO items SELECT i, i % 10, md5(i::text) FROM generate_series(1, :rows) AS i;
