-- The empty tables, made anew. :choose: whether this server has the setting that decides how tables are stored.
SET client_min_messages = warning;
\if :choose
SET default_table_access_method = :'access_method';
\endif
DROP TABLE IF EXISTS order_line, orders, item, customer;
CREATE TABLE customer (
    id bigint NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    phone text NOT NULL,
    balance numeric(10, 2) NOT NULL,
    comment text NOT NULL
);
CREATE TABLE item (
    id bigint NOT NULL,
    name text NOT NULL,
    price numeric(10, 2) NOT NULL,
    comment text NOT NULL
);
CREATE TABLE orders (
    id bigint NOT NULL,
    customer_id bigint NOT NULL,
    placed_at timestamp NOT NULL,
    status integer NOT NULL,
    comment text NOT NULL
);
CREATE TABLE order_line (
    order_id bigint NOT NULL,
    number integer NOT NULL,
    item_id bigint NOT NULL,
    quantity integer NOT NULL,
    amount numeric(10, 2) NOT NULL,
    comment text NOT NULL
);
