\set number :number + 1
\set value random(0, 1000000)
INSERT INTO append_rows (at, source, number, value) VALUES (now(), :source, :number, :value);
