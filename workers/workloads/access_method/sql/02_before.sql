-- Tables that hold a row.
SELECT array_remove(ARRAY[CASE WHEN EXISTS (SELECT FROM foo) THEN 'foo' END,
                          CASE WHEN EXISTS (SELECT FROM grown) THEN 'grown' END,
                          CASE WHEN EXISTS (SELECT FROM wide) THEN 'wide' END], NULL) AS filled
