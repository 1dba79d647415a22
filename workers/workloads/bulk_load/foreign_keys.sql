-- Each is checked against every row of its table.
\set step 'foreign keys'
\set table orders
\set statement 'ALTER TABLE orders ADD FOREIGN KEY (customer_id) REFERENCES customer'
\ir timed.sql
\set table order_line
\set statement 'ALTER TABLE order_line ADD FOREIGN KEY (order_id) REFERENCES orders'
\ir timed.sql
\set statement 'ALTER TABLE order_line ADD FOREIGN KEY (item_id) REFERENCES item'
\ir timed.sql
