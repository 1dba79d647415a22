EXPLAIN (FORMAT JSON) SELECT * FROM foo WHERE id >= :aid AND id < :aid + :span;
