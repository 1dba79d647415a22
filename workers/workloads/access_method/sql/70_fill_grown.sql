-- By INSERT: COPY extends a table by more pages than it needs, which would hide the growth. An index on the column that
-- is updated: no update can be heap-only.
INSERT INTO grown SELECT id, md5(id || '.1'), md5(id || '.2'), md5(id || '.3') FROM generate_series(1, :rows) AS id;
CREATE INDEX grown_id ON grown (id);
CREATE INDEX grown_val1 ON grown (val1);
