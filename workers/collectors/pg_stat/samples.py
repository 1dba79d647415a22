"""The sampler's lines of JSON → series of rates. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.measurement.parsed_trial import Measurement
from results.domain.measurement.series import Series
from results.domain.measurement.wait_events import wait_event
from results.domain.messages import gettext_lazy as _

_RATES = (
    # (column, series, unit)
    ("wal_bytes", "wal.bytes", "B/s"),
    ("xact_commit", "transactions.committed", "1/s"),
    ("xact_rollback", "transactions.rolled_back", "1/s"),
    ("blks_read", "blocks.read", "1/s"),
    ("blks_hit", "blocks.hit", "1/s"),
    ("temp_bytes", "temp.bytes", "B/s"),
)
RUNNING = "CPU: running"  # the wait of a session that waits for nothing
WAITS = "waits"
_LEVELS = (("active", "backends.active", "1"), ("waiting", "backends.waiting", "1"))


def read_samples(text: str, file: str = "samples.txt") -> list[Mapping[str, Any]]:
    """Read every complete line (a killed psql may leave half of one). Raises ParseError for a damaged one."""
    samples = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        if not line.strip():
            continue
        try:
            sample = json_text.loads(line)
            float(sample["at"])
            for column, *_rest in (*_RATES, *_LEVELS):
                float(0 if sample.get(column) is None else sample[column])
            sum(float(backends) for backends in (sample.get("waits") or {}).values())
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ParseError(_("not a sample of statistics"), file=file, line=number, text=line) from None
        samples.append(sample)
    return samples


def sample_series(samples: Sequence[Mapping[str, Any]], node: str, start_s: float) -> Iterator[Series]:
    """Compute rates between two samples, at the later one's time, and levels at each.

    start_s: the window's start, epoch seconds on the server's clock.
    A counter that decreased (a restart, a reset) leaves a gap.
    """
    times = tuple(round(float(sample["at"]) - start_s, 3) for sample in samples)
    for column, name, unit in _RATES:
        if len(samples) > 1 and all(sample.get(column) is not None for sample in samples):
            yield Series(name, node, unit, times[1], 0.0, _rates(samples, times, column), times_s=times[1:])
    for column, name, unit in _LEVELS:
        if samples and all(sample.get(column) is not None for sample in samples):
            levels = tuple(float(sample[column]) for sample in samples)
            yield Series(name, node, unit, times[0], 0.0, levels, times_s=times)
    yield from _waits(samples, node, times)


def means(series: Iterable[Series], length_s: float) -> Iterator[Measurement]:
    """Compute the mean of each wait over the samples inside the window.

    length_s: of the window."""
    for wait_series in series:
        if wait_series.name == WAITS and (inside := wait_series.within(0, length_s)):
            yield Measurement(WAITS, sum(inside) / len(inside), wait_series.node, wait_series.label)


def _waits(samples: Sequence[Mapping[str, Any]], node: str, times: tuple[float, ...]) -> Iterator[Series]:
    """Yield the number of sessions at each wait; 0 where none. Versions without waits have no series."""
    counts = [_named(sample.get("waits") or {}) for sample in samples]
    for wait in sorted({wait for count in counts for wait in count}):
        backends = tuple(float(count.get(wait, 0)) for count in counts)
        yield Series(WAITS, node, "1", times[0], 0.0, backends, wait, times)


def _named(count: Mapping[str, Any]) -> dict[str, float]:
    """The number of sessions by the newest name of what they wait for."""
    named: dict[str, float] = {}
    for wait, backends in count.items():
        name = wait_event(wait)
        named[name] = named.get(name, 0.0) + float(backends)
    return named


def _rates(samples: Sequence[Mapping[str, Any]], times: tuple[float, ...], column: str) -> tuple[float, ...]:
    rates = []
    for index in range(1, len(samples)):
        gained = float(samples[index][column]) - float(samples[index - 1][column])
        seconds = times[index] - times[index - 1]
        rates.append(gained / seconds if gained >= 0 and seconds > 0 else float("nan"))
    return tuple(rates)
