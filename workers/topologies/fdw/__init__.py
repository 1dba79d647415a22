"""A server whose large tables lie on others, reached by postgres_fdw."""
