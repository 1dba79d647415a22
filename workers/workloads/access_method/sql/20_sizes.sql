-- Size and access method of every table of the profile, as one JSON object. pg_relation_size would leave out what an
-- access method keeps in other forks. Before 12 there is nothing but heap, and relam is 0.
SELECT json_object_agg(relname, json_build_object(
           'table', pg_table_size(c.oid), 'indexes', pg_indexes_size(c.oid), 'total', pg_total_relation_size(c.oid),
           'access_method', coalesce(a.amname, 'heap')))
  FROM pg_class AS c
  LEFT JOIN pg_am AS a ON a.oid = c.relam
 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace;
