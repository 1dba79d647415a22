-- Clause 3.3.2.2: D_NEXT_O_ID - 1 = max(O_ID) = max(NO_O_ID) of each district; the latter only where there are any.
\set condition 2
WITH districts AS (
    SELECT d_w_id AS warehouse, d_id AS district, d_next_o_id - 1 AS last,
           (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) AS last_order,
           (SELECT max(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) AS last_new_order
      FROM district
), compared AS (
    SELECT warehouse, district, 'D_NEXT_O_ID - 1' AS one_name, last AS one,
           'the largest O_ID' AS other_name, last_order AS other
      FROM districts
    UNION ALL
    SELECT warehouse, district, 'D_NEXT_O_ID - 1', last, 'the largest NO_O_ID', last_new_order
      FROM districts
     WHERE last_new_order IS NOT NULL
)
