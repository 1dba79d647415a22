-- Tables that hold a row.
SELECT array_remove(ARRAY[CASE WHEN EXISTS (SELECT FROM customer) THEN 'customer' END,
                          CASE WHEN EXISTS (SELECT FROM item) THEN 'item' END,
                          CASE WHEN EXISTS (SELECT FROM orders) THEN 'orders' END,
                          CASE WHEN EXISTS (SELECT FROM order_line) THEN 'order_line' END], NULL) AS filled
