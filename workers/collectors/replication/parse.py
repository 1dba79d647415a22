"""Samples and catch-up times of one server → a Part. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _

from .samples import LAGS, Sample, age_series, lag_series, nodes_behind, read_samples, times


def parse(reading: Reading) -> Part:
    """Read samples.txt, clocks.json and caught_up.json, as far as they exist.

    Lags of a node that the server sends to are filed under that node; the age of what the server itself has replayed,
    under its own. A node that did not catch up leaves a Gap, and so do samples that end too early and a lag that the
    server never knew. Raises ParseError for damaged files.
    """
    files, offset_s = reading.files, reading.clock_offset_s
    start_s = reading.window[0] + offset_s
    samples = read_samples(files.get("samples.txt", ""), "samples.txt")
    gaps: list[Gap] = []
    if samples and (reason := reading.cut_short(samples[-1].at_s - start_s)):
        gaps.append(Gap("replication", reading.node, _("samples: {reason}", reason=reason)))
    ahead_s = _ahead_of_primary_s(files, offset_s)
    series = (*lag_series(samples, start_s), *age_series(samples, reading.node, start_s, ahead_s))
    measurements = [*_means(series, reading.window[1] - reading.window[0])]
    gaps += _unknown_lags(samples, series, reading)
    if "caught_up.json" in files:
        asked_at_s, caught_up = _read_caught_up(files["caught_up.json"])
        measurements += _times_to_catch_up(asked_at_s, caught_up, reading.window[1] + offset_s)
        gaps += _not_caught_up(nodes_behind(samples), caught_up)
    return Part(measurements=tuple(measurements), series=series, gaps=tuple(gaps))


def _means(series: Sequence[Series], length_s: float) -> Iterator[Measurement]:
    for one in series:
        if inside := one.within(0, length_s):
            yield Measurement(one.name, sum(inside) / len(inside), one.node, one.label)
            yield Measurement(f"{one.name}.max", max(inside), one.node, one.label)


def _unknown_lags(samples: Sequence[Sample], series: Sequence[Series], reading: Reading) -> Iterator[Gap]:
    """Yield a Gap for each node that is sent to, and whose lag is null in every sample of a short window."""
    start_s, end_s = reading.window
    length_s = end_s - start_s
    times_s = times(samples, start_s + reading.clock_offset_s)
    inside = [sample for sample, at_s in zip(samples, times_s, strict=True) if 0 <= at_s < length_s]
    known = {(one.name, one.label, one.node) for one in series if one.within(0, length_s)}
    for node in nodes_behind(inside):
        if missing := [f"{name} {label}".strip() for name, label in LAGS if (name, label, node) not in known]:
            sample_count = sum(node in sample.behind for sample in inside)
            reason = _(
                "{missing}: unknown to {node} in all {count} samples of the window; a longer duration gives more "
                "samples",
                missing=linked(COMMA, missing),
                node=reading.node,
                count=sample_count,
            )
            yield Gap("replication", node, reason)


def _not_caught_up(nodes: Iterable[str], caught_up: Mapping[str, float]) -> Iterator[Gap]:
    for node in nodes:
        if node not in caught_up:
            yield Gap("replication", node, _("time to catch up: the node had not caught up when the wait ended"))


def _times_to_catch_up(asked_at_s: float, caught_up: Mapping[str, float], end_s: float) -> Iterator[Measurement]:
    """Yield each node's time to catch up; 0 where it had when first asked: how soon is not known."""
    for node, at_s in caught_up.items():
        yield Measurement("replication.catch_up", max(0.0, at_s - end_s) if at_s > asked_at_s else 0.0, node)


def _read_caught_up(text: str) -> tuple[float, dict[str, float]]:
    try:
        content = json_text.loads(text)
        return float(content["asked_at"]), {str(node): float(at_s) for node, at_s in content["caught_up"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ParseError(_("not times of catching up"), file="caught_up.json", line=1, text=text[:200]) from None


def _ahead_of_primary_s(files: Mapping[str, str], offset_s: float) -> float:
    """Return how far the server's clock is ahead of the primary's, in seconds."""
    text = files.get("clocks.json", "")
    if not text:
        return offset_s
    try:
        return offset_s - float(json_text.loads(text)["primary_clock_offset_s"])
    except (ValueError, TypeError, KeyError):
        raise ParseError(_("not the clocks' offsets"), file="clocks.json", line=1, text=text[:200]) from None
