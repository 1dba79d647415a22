\set step vacuum
\set table customer
\set statement 'VACUUM customer'
\ir timed.sql
\set table item
\set statement 'VACUUM item'
\ir timed.sql
\set table orders
\set statement 'VACUUM orders'
\ir timed.sql
\set table order_line
\set statement 'VACUUM order_line'
\ir timed.sql
