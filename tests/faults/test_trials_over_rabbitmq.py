"""Trials whose messages wait in RabbitMQ, and no Redis is there: one that measures while RabbitMQ is killed, and one
after it has started anew."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bootstrap import ports
from results import models
from tests import factories, restarting
from tests.brokers import RABBITMQ, RabbitMQ, rabbitmq
from tests.faults import fleet as fleets
from tests.faults import trials
from tests.faults.conftest import require_nothing_left
from tests.faults.fleet import Fleet
from tests.faults.processes import free_port, until
from tests.faults.trials import Gates
from workers.remote.address import Address

pytestmark = pytest.mark.skipif(
    not RABBITMQ.exists(), reason="RabbitMQ is not installed: apt-get install rabbitmq-server"
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="faults-") as made:
        yield Path(made)


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[RabbitMQ]:
    with rabbitmq(folder) as running:
        yield running


@pytest.fixture(scope="module")
def fleet(warehouse: restarting.Warehouse, folder: Path, broker: RabbitMQ) -> Iterator[Fleet]:
    nobody = f"redis://{ports.HOST}:{free_port()}/0"
    with fleets.running(warehouse, folder, queue={"TEITEN_BROKER_URL": broker.url, "TEITEN_REDIS_URL": nobody}) as made:
        made.token = factories.tokens(factories.member(staff=True))["admin"]
        yield made


def test_a_trial_outlives_rabbitmq_and_the_next_one_starts_after_it(
    fleet: Fleet, broker: RabbitMQ, agents: list[Address], gates: Gates
) -> None:
    first = _started(fleet, gates, "measure")
    until(lambda: trials.phase_of(first.pk) == "measure", lambda: trials.story(first.pk))
    broker.server.kill()
    broker.server.start()
    second = _started(fleet, gates, "collect")
    for trial in (first, second):
        until(lambda trial=trial: trials.ended(trial.pk), lambda trial=trial: trials.story(trial.pk))
        assert trials.outcome(trial.pk) == "done", trials.story(trial.pk)
        trials.require_right(fleet, trial.pk)
    require_nothing_left(fleet, agents)


def _started(fleet: Fleet, gates: Gates, phase: str) -> models.Trial:
    return models.Trial.objects.get(run=fleet.ask("POST", "runs/", trials.plan(phase, gates))["id"])
