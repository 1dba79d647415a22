"""Which trial runs next: the first whose agents are free, however many wait."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from results import models, sql
from results.domain.states import RunState, TrialState
from results.models.agents import AgentState
from tests import factories
from workers import dispatch, lease

NOW = factories.STARTED
# The rule, for every trial that waits.
BY_ITSELF = """
SELECT t.id, t.run_id, t.agents
  FROM results_trial t
  JOIN results_run r ON r.id = t.run_id
 WHERE t.state = 'waiting'
   AND r.state = 'running'
   AND (t.not_before IS NULL OR t.not_before <= %(now)s)
   AND t.agents <> '{}'
   AND NOT EXISTS (SELECT FROM results_lease l WHERE l.agent_id = ANY (t.agents))
   AND cardinality(t.agents) = (SELECT count(*) FROM results_agent a
                                 WHERE a.id = ANY (t.agents) AND a.enabled AND a.state = 'ready')
 ORDER BY r.id, t.position
"""


@pytest.fixture
def queue(db: None) -> random.Random:
    """Two thousand trials of ten runs, for up to three of thirty agents, some of which are not to be had."""
    chance = random.Random(19)
    agents = [
        models.Agent(name=f"agent{n}", host="h", enabled=n % 10 != 0, state="unreachable" if n % 7 == 0 else "ready")
        for n in range(30)
    ]
    ids = [agent.pk for agent in models.Agent.objects.bulk_create(agents)]
    run = factories.run()
    models.Trial.objects.all().delete()
    configurations = [run.configurations.earliest("pk")]
    for _ in range(9):
        later = models.Run.objects.get(pk=run.pk)
        later.pk, later.state = None, chance.choice([RunState.RUNNING, RunState.RUNNING, RunState.SCHEDULED])
        later.save()
        configurations.append(
            models.Configuration.objects.create(run=later, index=0, levels={}, spec={}, dimensions={})
        )
    models.Trial.objects.bulk_create(
        models.Trial(
            run_id=configuration.run_id,
            configuration=configuration,
            block=1,
            position=position,
            agents=chance.sample(ids, chance.choice([0, 1, 1, 1, 2, 3])),
            state=chance.choice([TrialState.WAITING, TrialState.WAITING, TrialState.DONE]),
            not_before=chance.choice([None, None, NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)]),
        )
        for position in range(2_000)
        for configuration in [chance.choice(configurations)]
    )
    return chance


def test_a_trial_is_taken_with_five_statements(
    queue: random.Random, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(5 + 2):  # the test's transaction adds a savepoint
        attempt_id = dispatch.next_attempt(NOW, "own")
    attempt = models.Attempt.objects.select_related("trial").get(pk=attempt_id)
    assert (attempt.number, attempt.worker, attempt.trial.state) == (1, "own", TrialState.RUNNING)
    assert (attempt.trial.attempts_made, attempt.trial.state_at) == (1, NOW)


def test_trials_are_taken_in_the_order_of_the_rule_until_no_agents_are_left(
    queue: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = 0
    while True:
        rule = sql.rows(dispatch._Candidate, BY_ITSELF, {"now": NOW})
        free = {candidate.agents for candidate in rule}
        count = dispatch.count_startable(NOW)
        assert len({agents[0] for agents in free}) == count
        monkeypatch.setattr(dispatch, "_MOST_SOON", queue.choice([0, 200]))
        attempt_id = dispatch.next_attempt(NOW, "test")
        if attempt_id is None:
            break
        attempt = models.Attempt.objects.get(pk=attempt_id)
        assert (attempt.trial_id, attempt.run_id) == (rule[0].id, rule[0].run_id)
        taken += 1
    assert rule == []
    assert taken > 5


@pytest.mark.parametrize("name", ["_SOON", "_FIRST", "_COUNT"])
def test_no_look_for_work_reads_all_that_waits_or_ended(db: None, name: str) -> None:
    """With every agent busy but one, the time does not depend on how many trials wait, nor on how many ended before."""
    run = factories.run()
    configuration = run.configurations.earliest("pk")
    models.Trial.objects.all().delete()
    busy = models.Agent.objects.earliest("pk")
    models.Trial.objects.bulk_create(
        models.Trial(
            run=run,
            configuration=configuration,
            block=1,
            position=position,
            agents=[busy.pk],
            state=TrialState.DONE if position < 500 else TrialState.WAITING,
        )
        for position in range(5_500)
    )
    factories.held_by_contact(busy.pk, timezone.now() + timedelta(hours=1))
    factories.agent("free")
    sql.execute("ANALYZE")
    with connection.cursor() as cursor:
        words = {"now": timezone.now(), "most": 200}
        cursor.execute("EXPLAIN (ANALYZE, FORMAT json) " + getattr(dispatch, name), words)
        [[[plan]]] = cursor.fetchall()
    assert _most_rows(plan["Plan"]) <= 200


def _most_rows(node: dict[str, object]) -> float:
    """The most rows that one step of a plan read, those that it dropped included."""
    keys = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    rows = sum(float(str(node.get(key, 0))) for key in keys)
    inner = node.get("Plans", [])
    assert isinstance(inner, list)
    return max([rows, *map(_most_rows, inner)])


def test_a_worker_that_loses_an_agent_to_another_takes_the_next_trial(
    queue: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire = lease.acquire
    lost: list[int] = []

    def lose_once(attempt_id: int, agents: Sequence[int], now: datetime) -> bool:
        lost.append(attempt_id)
        return len(lost) > 1 and acquire(attempt_id, agents, now)

    monkeypatch.setattr(lease, "acquire", lose_once)
    attempt_id = dispatch.next_attempt(NOW, "test")
    assert len(lost) == 2
    assert models.Attempt.objects.get().pk == attempt_id
    assert models.Trial.objects.filter(state=TrialState.RUNNING).count() == 1


def test_an_agent_that_no_trial_waits_for_calls_nobody(db: None) -> None:
    factories.run()
    factories.agent("idle")
    assert dispatch.count_startable(timezone.now()) == 1
    models.Agent.objects.filter(name="db1").update(state=AgentState.UNREACHABLE)
    assert dispatch.count_startable(timezone.now()) == 0
