CREATE INDEX append_rows_at ON append_rows (at);
