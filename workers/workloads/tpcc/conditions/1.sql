-- Clause 3.3.2.1: W_YTD = sum(D_YTD) of each warehouse.
\set condition 1
WITH compared AS (
    SELECT w_id AS warehouse, NULL::integer AS district, 'W_YTD' AS one_name, w_ytd AS one,
           'the sum of D_YTD' AS other_name, total AS other
      FROM warehouse
      LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS total FROM district GROUP BY d_w_id) AS districts ON d_w_id = w_id
)
