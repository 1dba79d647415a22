-- Ends the query of each condition: how many were compared, how many differ, and the first of those, as a line of JSON.
SELECT jsonb_build_object(
    'condition', :condition,
    'compared', (SELECT count(*) FROM compared),
    'violated', (SELECT count(*) FROM compared WHERE one IS DISTINCT FROM other),
    'first', (SELECT coalesce(jsonb_agg(differing), '[]')
                FROM (SELECT warehouse, district, one_name, one::text, other_name, other::text
                        FROM compared
                       WHERE one IS DISTINCT FROM other
                       ORDER BY warehouse, district, other_name DESC
                       LIMIT 10) AS differing));
