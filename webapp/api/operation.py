"""How the installation does, for Prometheus: `/metrics`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from rest_framework.request import Request
from rest_framework.views import APIView

from results import VERSION, bundle_files
from results.domain.errors import TeitenError
from results.models.plans import MissedCause
from results.queries.operation import operation
from webapp.api.common import IgnoreAcceptNegotiation
from webapp.health import check_queue, free_bytes
from workers import tasks

_LAST_HOUR = "at trials that ended in the last hour"
_FREE = f"What can still be written in the bundle folder; below {bundle_files.LEAST_FREE_BYTES} no trial starts."
_SEEN = "of runs that the token may see"


class Operation(APIView):
    """What waits, runs and has just ended, as Prometheus reads it."""

    schema: Any = None
    content_negotiation_class: Any = IgnoreAcceptNegotiation

    def get(self, request: Request) -> HttpResponse:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        registry = CollectorRegistry()
        registry.register(OperationCollector(timezone.now()))
        return HttpResponse(encode(registry), content_type=content_type)


class OperationCollector(Collector):
    """Reads warehouse and Redis when it is asked: all web processes tell the same."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def describe(self) -> Sequence[Metric]:
        return ()  # or the registry collects twice

    def collect(self) -> Iterator[Metric]:
        yield _gauge("teiten_build_info", "1; the label is the version of Teiten.", ["version"], [((VERSION,), 1)])
        yield from _messages()
        yield from _trials()
        yield from _bundle_folder()
        yield from _leases()
        yield from self._ended()
        yield from _beat()
        yield self._missed()

    def _missed(self) -> Metric:
        counts = dict.fromkeys(MissedCause.values, 0) | operation.plans_with_missed_runs(self.now)
        help_text = "Plans with times of their schedule that were noted as missed in the last hour."
        return _gauge("teiten_last_hour_plans_missed", help_text, ["cause"], [((c,), n) for c, n in counts.items()])

    def _ended(self) -> Iterator[Metric]:
        ended, labels = operation.ended_attempts(self.now), ["state", "error"]

        def gauge(name: str, text: str, field: str) -> Metric:
            values = [((row.state, row.error), getattr(row, field)) for row in ended]
            return _gauge(f"teiten_last_hour_{name}", f"{text} attempts {_LAST_HOUR}, {_SEEN}.", labels, values)

        yield gauge("attempts", "Ended", "count")
        yield gauge("attempts_unstored", "Archived and not stored: ended", "unstored")
        yield gauge("attempt_duration_median_seconds", "Median duration of", "median_s")
        yield gauge("attempt_duration_max_seconds", "Longest duration of", "max_s")
        phases = operation.phase_durations(self.now)
        for name, text, field in (("median", "Median", "median_s"), ("max", "Longest", "max_s")):
            yield _gauge(
                f"teiten_last_hour_phase_duration_{name}_seconds",
                f"{text} duration of a phase of attempts that are done, {_LAST_HOUR}, {_SEEN}.",
                ["phase"],
                [((row.phase,), getattr(row, field)) for row in phases],
            )


Values = Sequence[tuple[tuple[str, ...], float]]


def _gauge(name: str, text: str, labels: Sequence[str], values: Values) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in values:
        family.add_metric(label_values, value)
    return family


def _messages() -> Iterator[Metric]:
    try:
        check_queue()  # which is less patient than Celery: a scrape ends after 10 s
        counts = tasks.messages_waiting()
    except TeitenError:
        counts = {}  # a figure that is missing is none, and teiten_redis_up says why
    yield _gauge("teiten_redis_up", "1 when Redis answers, else 0.", [], [((), bool(counts))])
    values = [((queue,), count) for queue, count in counts.items()]
    yield _gauge("teiten_queue_messages", "Messages that no worker has taken yet.", ["queue"], values)


def _trials() -> Iterator[Metric]:
    counts = {"waiting": 0, "scheduled": 0, "running": 0}
    counts |= {row.state: row.count for row in operation.queued_trials()}
    help_text = f"Trials that wait, wait for the time of their run, or run, {_SEEN}."
    yield _gauge("teiten_trials", help_text, ["state"], [((state,), count) for state, count in counts.items()])
    running = operation.running_attempts()
    help_text = f"Attempts that have not ended, {_SEEN}."
    yield _gauge("teiten_attempts_running", help_text, [], [((), running.count)])
    help_text = f"Attempts whose worker is gone and that wait for another one, {_SEEN}."
    yield _gauge("teiten_attempts_left", help_text, [], [((), running.left)])
    help_text = f"Attempts that have not ended, whose bundle is archived and not stored yet, {_SEEN}."
    yield _gauge("teiten_attempts_unstored", help_text, [], [((), running.unstored)])
    help_text = f"When the first of teiten_attempts_unstored began its last phase: time() minus this, {_SEEN}."
    since = running.unstored_since
    values = [((), since.timestamp())] if since else []
    yield _gauge("teiten_attempts_unstored_timestamp_seconds", help_text, [], values)


def _bundle_folder() -> Iterator[Metric]:
    free = free_bytes()
    values = [] if free is None else [((), free)]
    yield _gauge("teiten_bundle_folder_free_bytes", _FREE, [], values)


def _leases() -> Iterator[Metric]:
    leases, labels = operation.held_leases(), ["agent", "purpose"]
    for name, text, field in (
        ("acquired", "Since when an agent is in use", "acquired_at"),
        ("heartbeat", "When whoever uses an agent was heard of last", "heartbeat_at"),
    ):
        values = [((row.agent, row.purpose), getattr(row, field).timestamp()) for row in leases]
        yield _gauge(f"teiten_lease_{name}_timestamp_seconds", f"{text}: time() minus this.", labels, values)
    states = [((state,), count) for state, count in operation.agents_by_state().items()]
    yield _gauge("teiten_agents", "Agents that are not disabled, by the result of the last contact.", ["state"], states)


def _beat() -> Iterator[Metric]:
    rows = [((task.name,), task.last_run_at.timestamp()) for task in operation.beat_tasks() if task.last_run_at]
    help_text = "When beat sent a task last, as it writes every 30 s: time() minus this."
    yield _gauge("teiten_beat_sent_timestamp_seconds", help_text, ["task"], rows)
