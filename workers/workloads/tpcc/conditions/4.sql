-- Clause 3.3.2.4: sum(O_OL_CNT) = rows of ORDER-LINE of each district.
\set condition 4
WITH compared AS (
    SELECT coalesce(o_w_id, ol_w_id) AS warehouse, coalesce(o_d_id, ol_d_id) AS district,
           'the sum of O_OL_CNT' AS one_name, lines AS one, 'the number of rows in ORDER-LINE' AS other_name, counted AS other
      FROM (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS lines FROM orders GROUP BY o_w_id, o_d_id) AS ordered
      FULL JOIN (SELECT ol_w_id, ol_d_id, count(*) AS counted FROM order_line GROUP BY ol_w_id, ol_d_id) AS listed
        ON ol_w_id = o_w_id AND ol_d_id = o_d_id
)
