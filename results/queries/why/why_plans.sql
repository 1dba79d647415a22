-- Of each query the plan of the first attempt that has one, for either configuration.
SELECT DISTINCT ON (document.label, wanted.place > %(left)s)
    document.attempt_id, document.label, document.content::json AS content
FROM unnest(%(attempts)s::bigint[]) WITH ORDINALITY AS wanted (attempt_id, place)
JOIN results_document AS document ON document.attempt_id = wanted.attempt_id AND document.kind = 'plan'
ORDER BY document.label, wanted.place > %(left)s, wanted.place
