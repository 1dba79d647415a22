"""Results that other programs measured: their files as text or as a table, and the trials in them. Pure."""
