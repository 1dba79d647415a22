\set value random(0, 1000000)
INSERT INTO append_rows (at, source, number, value) SELECT now(), :source, number, :value + number FROM generate_series(1, :rows) AS number;
