-- [things]
CREATE TABLE things (id int NOT NULL, n int NOT NULL, word text NOT NULL, tags text[] NOT NULL, spot point NOT NULL,
                     span int4range NOT NULL);
-- [fill]
INSERT INTO things
SELECT i, i, md5(i::text), ARRAY['t' || i % 7, 'u' || i % 11], point(i % 50, i / 50), int4range(i, i + 10)
  FROM generate_series(:first::int, :last::int) AS i;
-- [change]
UPDATE things
   SET n = n + 100000, word = md5(word), tags = tags || 'v'::text, spot = spot + point(1, 1),
       span = int4range(lower(span) + 5, upper(span) + 5)
 WHERE id % 10 = 0;
DELETE FROM things WHERE id % 13 = 0;
-- [all]
SELECT id || ' ' || word FROM things;
-- [vacuum]
VACUUM things;
-- [btree: index]
CREATE INDEX chosen ON things USING btree (n);
-- [btree: query]
SELECT id || ' ' || word FROM things WHERE n BETWEEN 100 AND 300 ORDER BY n
-- [hash: index]
CREATE INDEX chosen ON things USING hash (word);
-- [hash: query]
SELECT id || ' ' || word FROM things WHERE word = md5('77')
-- [gin: index]
CREATE INDEX chosen ON things USING gin (tags);
-- [gin: query]
SELECT id || ' ' || word FROM things WHERE tags && ARRAY['u5', 'v']
-- [gist: index]
CREATE INDEX chosen ON things USING gist (span);
-- [gist: query]
SELECT id || ' ' || word FROM things WHERE span && int4range(100, 120)
-- [spgist: index]
CREATE INDEX chosen ON things USING spgist (spot);
-- [spgist: query]
SELECT id || ' ' || word FROM things WHERE spot <@ box '((3,3),(12,7))'
-- [brin: index]
CREATE INDEX chosen ON things USING brin (n) WITH (pages_per_range = 2);
-- [brin: query]
SELECT id || ' ' || word FROM things WHERE n BETWEEN 100 AND 300
-- [partial: index]
CREATE INDEX chosen ON things (n) WHERE id % 3 = 0;
-- [partial: query]
SELECT id || ' ' || word FROM things WHERE id % 3 = 0 AND n BETWEEN 100 AND 300
-- [expression: index]
CREATE INDEX chosen ON things (upper(word));
-- [expression: query]
SELECT id || ' ' || word FROM things WHERE upper(word) = upper(md5('77'))
-- [unique: index]
CREATE UNIQUE INDEX chosen ON things (word);
-- [unique: query]
SELECT id || ' ' || word FROM things WHERE word = md5('77')
-- [unique: twice]
INSERT INTO things SELECT 0, 0, md5('77'), '{}', point(0, 0), 'empty' FROM generate_series(1, 1);
-- [unique: twice at once]
INSERT INTO things SELECT 0, 0, 'new', '{}', point(0, 0), 'empty' FROM generate_series(1, 2);
-- [unique: update]
UPDATE things SET word = md5('77') WHERE id = 79;
-- [unique: build]
CREATE TABLE doubles AS SELECT i % 5 AS n FROM generate_series(1, 10) AS i;
CREATE UNIQUE INDEX doubles_n ON doubles (n);
-- [unique: again]
DELETE FROM things WHERE id = 77;
INSERT INTO things SELECT 77, 77, md5('77'), '{}', point(0, 0), 'empty' FROM generate_series(1, 1);
