CREATE INDEX append_rows_source_at ON append_rows (source, at);
