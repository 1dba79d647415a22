SELECT amname AS name FROM pg_am WHERE amtype = 't' ORDER BY amname
