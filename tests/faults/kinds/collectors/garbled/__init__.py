"""garbled: a collector whose file is garbage."""
