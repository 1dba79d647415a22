\set step analyze
\set table customer
\set statement 'ANALYZE customer'
\ir timed.sql
\set table item
\set statement 'ANALYZE item'
\ir timed.sql
\set table orders
\set statement 'ANALYZE orders'
\ir timed.sql
\set table order_line
\set statement 'ANALYZE order_line'
\ir timed.sql
