SET default_table_access_method = :'access_method';
