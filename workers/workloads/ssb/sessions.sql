-- A session that ends hands in what it counted before it is gone from here.
SELECT count(*) AS sessions FROM pg_stat_activity WHERE application_name LIKE :'name'
