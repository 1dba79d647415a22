"""Bulk load: COPY, primary keys, foreign keys, VACUUM and ANALYZE, each timed on its own."""
