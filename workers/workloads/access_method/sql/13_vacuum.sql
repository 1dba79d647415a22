\timing on
VACUUM (VERBOSE) :"table";
