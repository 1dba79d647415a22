\timing on
VACUUM (FULL, VERBOSE) foo;
