"""A TPC-C-like workload: nine tables, five transactions, the consistency conditions."""
