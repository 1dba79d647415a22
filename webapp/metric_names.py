"""In which order metrics are offered, and by which other words people look for them. Pure.

A metric that stands in no family is offered after all others, by its name."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from results.domain.measurement.metrics import Metric
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.queries.shared.facets import MetricChoice


@dataclass(frozen=True)
class Family:
    """Metrics that are offered under one heading.

    names: in their order; one that ends in '.' stands for all that begin so.
    words: by which each of them is found besides its label and name.
    """

    title: Promise
    names: tuple[str, ...]
    words: str = ""


FAMILIES = (
    Family(
        pgettext_lazy("group of metrics", "throughput"),
        ("tps", "nopm", "tpm", "tpcb.tps", "append.rows_per_second", "tps.including", "ledger.tps", "failover.tps"),
        _("throughput tps transactions per second speed"),
    ),
    Family(
        pgettext_lazy("group of metrics", "queries"),
        ("ssb.pass.seconds", "script.pass.seconds", "ssb.", "script."),
        _("query time seconds analytics"),
    ),
    Family(
        pgettext_lazy("group of metrics", "latency"),
        (
            "latency.mean",
            "latency.p50",
            "latency.p90",
            "latency.p95",
            "latency.p99",
            "latency.p99.9",
            "latency.max",
            "latency.sd",
            "latency.",
            "statement.latency",
            "commit.latency",
            "update.latency",
            "index_scan.latency",
            "schedule.",
            "connection.",
        ),
        _("latency response time"),
    ),
    Family(
        pgettext_lazy("group of metrics", "processor"),
        ("cpu.busy", "cpu.", "run_queue", "load_average", "context_switches", "interrupts"),
        _("cpu load"),
    ),
    Family(pgettext_lazy("group of metrics", "write-ahead log"), ("wal.", "checkpoints"), _("wal log writes")),
    Family(
        pgettext_lazy("group of metrics", "input and output"),
        ("disk.", "blocks.", "buffers.", "temp."),
        _("i/o io disk reads writes cache"),
    ),
    Family(pgettext_lazy("group of metrics", "memory"), ("memory.",), _("ram")),
    Family(pgettext_lazy("group of metrics", "network"), ("network.",), _("traffic")),
    Family(pgettext_lazy("group of metrics", "waits"), ("waits", "deadlocks", "perf."), _("wait events locks")),
    Family(
        pgettext_lazy("group of metrics", "replication"), ("replication.", "failover.", "pgpool."), _("standby lag")
    ),
    Family(
        pgettext_lazy("group of metrics", "size"),
        ("size.", "growth.", "dead_tuples", "free_space"),
        _("bytes bloat space"),
    ),
    Family(pgettext_lazy("group of metrics", "load"), ("bulk.", "load.", "append."), _("load copy import")),
    Family(
        pgettext_lazy("group of metrics", "failures"),
        ("failed", "retried", "retries", "skipped", "late"),
        _("errors aborted"),
    ),
)
_OTHER = len(FAMILIES)
_OTHER_TITLE = pgettext_lazy("group of metrics", "other")
_SYNONYMS = {
    "latency.p50": "median 50th",
    "latency.p90": "90th",
    "latency.p95": "95th",
    "latency.p99": "99th",
    "latency.p99.9": "99.9th",
    "latency.mean": "mean average avg",
    "latency.max": "maximum worst slowest",
    "latency.sd": "deviation jitter",
    "context_switches": "cs cswch",
    "cpu.iowait": "io wait",
    "buffers.hit_ratio": "cache hit",
}


def position(name: str) -> tuple[int, int, str]:
    """Return what metrics are sorted by: family, place in it, name."""
    family = _family(name)
    names = FAMILIES[family].names if family < _OTHER else ()
    place = next((index for index, known in enumerate(names) if _is(name, known)), 0)
    return family, place, name


def group(name: str) -> str:
    """Return the heading under which a metric is offered."""
    family = _family(name)
    return str(FAMILIES[family].title if family < _OTHER else _OTHER_TITLE)


def search_words(metric: Metric | MetricChoice) -> str:
    """Return all by which a metric is found, in small letters: label, name, what else people call it, in English and in
    the reader's language."""
    family = _family(metric.name)
    words = FAMILIES[family].words if family < _OTHER else ""
    texts = [metric.label, metric.name, _SYNONYMS.get(metric.name, ""), words]
    return " ".join([*texts, *(localized(text) for text in texts if localized(text) != text)]).lower()


def _family(name: str) -> int:
    """Return the family that names a metric itself, else one that has all that begin so."""
    whole = (index for index, family in enumerate(FAMILIES) if name in family.names)
    begun = (index for index, family in enumerate(FAMILIES) if any(_is(name, known) for known in family.names))
    return next(whole, next(begun, _OTHER))


def _is(name: str, known: str) -> bool:
    return name == known or (known.endswith(".") and name.startswith(known))
