-- Which of each client's transactions are there: runs of numbers without a hole.
SELECT start, client, min(number) AS first, max(number) AS last
  FROM (SELECT start, client, number,
               number - row_number() OVER (PARTITION BY start, client ORDER BY number) AS island
          FROM ledger) AS numbered
 GROUP BY start, client, island
 ORDER BY start, client, first
