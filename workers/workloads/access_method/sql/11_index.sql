\timing on
CREATE INDEX foo_id ON foo (id);
