"""The warehouse: what is known. Knows no HTTP and no SSH."""

VERSION = "1.0.0"
