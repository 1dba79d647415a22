\set step 'primary keys'
\set table customer
\set statement 'ALTER TABLE customer ADD PRIMARY KEY (id)'
\ir timed.sql
\set table item
\set statement 'ALTER TABLE item ADD PRIMARY KEY (id)'
\ir timed.sql
\set table orders
\set statement 'ALTER TABLE orders ADD PRIMARY KEY (id)'
\ir timed.sql
\set table order_line
\set statement 'ALTER TABLE order_line ADD PRIMARY KEY (order_id, number)'
\ir timed.sql
