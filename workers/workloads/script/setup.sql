-- Before the plan's own setup, in its session.
SET default_table_access_method = :'access_method';
