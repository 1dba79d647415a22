-- What the load has left, as one JSON object: rows by a count of each table, sizes, and keys that may be relied on.
WITH loaded AS (SELECT unnest(ARRAY['customer', 'item', 'orders', 'order_line']::regclass[]) AS oid)
SELECT json_build_object(
    'rows', json_build_object(
        'customer', (SELECT count(*) FROM customer),
        'item', (SELECT count(*) FROM item),
        'orders', (SELECT count(*) FROM orders),
        'order_line', (SELECT count(*) FROM order_line)),
    'table_bytes', (SELECT json_object_agg(oid::regclass::text, pg_table_size(oid)) FROM loaded),
    'index_bytes', (SELECT json_object_agg(oid::regclass::text, pg_indexes_size(oid)) FROM loaded),
    'primary_keys', (SELECT coalesce(json_agg(conrelid::regclass::text ORDER BY conrelid::regclass::text), '[]')
                       FROM pg_constraint AS c JOIN pg_index AS i ON i.indexrelid = c.conindid
                      WHERE contype = 'p' AND convalidated AND indisvalid AND indisready
                        AND conrelid IN (SELECT oid FROM loaded)),
    'foreign_keys', (SELECT coalesce(json_agg(conrelid::regclass || ' -> ' || confrelid::regclass
                                              ORDER BY conrelid::regclass || ' -> ' || confrelid::regclass), '[]')
                       FROM pg_constraint
                      WHERE contype = 'f' AND convalidated AND conrelid IN (SELECT oid FROM loaded)));
