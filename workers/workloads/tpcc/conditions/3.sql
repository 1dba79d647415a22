-- Clause 3.3.2.3: max(NO_O_ID) - min(NO_O_ID) + 1 = rows of NEW-ORDER of each district that has any.
\set condition 3
WITH compared AS (
    SELECT no_w_id AS warehouse, no_d_id AS district, 'max(NO_O_ID) - min(NO_O_ID) + 1' AS one_name,
           max(no_o_id) - min(no_o_id) + 1 AS one, 'the number of rows in NEW-ORDER' AS other_name, count(*) AS other
      FROM new_order
     GROUP BY no_w_id, no_d_id
)
