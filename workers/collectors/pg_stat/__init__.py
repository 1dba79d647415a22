"""PostgreSQL's own statistics, sizes and log of each server."""
