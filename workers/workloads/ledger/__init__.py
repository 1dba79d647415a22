"""Rows that each say which transaction they are: what was acknowledged is counted in the data."""
