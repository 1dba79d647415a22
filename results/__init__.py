"""The warehouse: what is known. Knows no HTTP and no SSH."""
