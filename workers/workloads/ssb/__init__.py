"""The Star Schema Benchmark: a generator of our own, thirteen queries, one to many clients at once."""
