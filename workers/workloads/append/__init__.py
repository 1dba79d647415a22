"""Append: rows inserted into a table that is partitioned by time."""
