-- What is asked of a run, and of a kind of runs that are counted.
(%(plan)s = '' OR run.plan_id = (SELECT id FROM results_plan WHERE name = %(plan)s))
AND (%(workload)s = '' OR run.workload = %(workload)s)
AND NOT run.archived
AND (
    %(agents)s::text[] = '{}'
    OR run.agents && ARRAY(SELECT id FROM results_agent WHERE name = ANY(%(agents)s))
)
AND (%(tags)s::text[] = '{}' OR run.tags::text[] && %(tags)s::text[])
