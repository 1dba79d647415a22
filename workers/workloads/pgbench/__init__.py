"""pgbench: built-in scripts, mixtures of them, and scripts of one's own."""
