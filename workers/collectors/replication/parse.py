"""Samples and the times of catching up, as one server knows them → a Part. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.measurement.series import Series

from .samples import LAGS, Sample, age_series, lag_series, nodes_behind, read_samples, times


def parse(reading: Reading) -> Part:
    """Whatever of samples.txt, clocks.json and caught_up.json is there. Numbers of a node that the server sends to are
    filed under that node; how old is what the server itself has replayed, under its own. A node that did not catch up
    costs a Gap, and so do samples that end too early and a lag that the server never knew. Raises ParseError for
    damaged files."""
    files, offset_s = reading.files, reading.clock_offset_s
    start_s = reading.window[0] + offset_s
    samples = read_samples(files.get("samples.txt", ""), "samples.txt")
    gaps: list[Gap] = []
    if samples and (reason := reading.cut_short(samples[-1].at_s - start_s)):
        gaps.append(Gap("replication", reading.node, f"samples: {reason}"))
    ahead_s = _ahead_of_primary_s(files, offset_s)
    series = (*lag_series(samples, start_s), *age_series(samples, reading.node, start_s, ahead_s))
    measurements = [*_means(series, reading.window[1] - reading.window[0])]
    gaps += _never_known(samples, series, reading)
    if "caught_up.json" in files:
        asked_at_s, caught_up = _caught_up(files["caught_up.json"])
        measurements += _times_to_catch_up(asked_at_s, caught_up, reading.window[1] + offset_s)
        gaps += _not_caught_up(nodes_behind(samples), caught_up)
    return Part(measurements=tuple(measurements), series=series, gaps=tuple(gaps))


def _means(series: Sequence[Series], length_s: float) -> Iterator[Measurement]:
    for one in series:
        if inside := one.within(0, length_s):
            yield Measurement(one.name, sum(inside) / len(inside), one.node, one.label)
            yield Measurement(f"{one.name}.max", max(inside), one.node, one.label)


def _never_known(samples: Sequence[Sample], series: Sequence[Series], reading: Reading) -> Iterator[Gap]:
    """A server may send to a node all the time and know no time for it in any of a short window's samples."""
    start_s, end_s = reading.window
    length_s = end_s - start_s
    times_s = times(samples, start_s + reading.clock_offset_s)
    inside = [sample for sample, at_s in zip(samples, times_s, strict=True) if 0 <= at_s < length_s]
    known = {(one.name, one.label, one.node) for one in series if one.within(0, length_s)}
    for node in nodes_behind(inside):
        if missing := [f"{name} {label}".strip() for name, label in LAGS if (name, label, node) not in known]:
            looks = sum(node in sample.behind for sample in inside)
            yield Gap(
                "replication",
                node,
                f"{', '.join(missing)}: not known to {reading.node} at any of {looks} looks during the load; "
                "a longer duration gives more of them",
            )


def _not_caught_up(nodes: Iterable[str], caught_up: Mapping[str, float]) -> Iterator[Gap]:
    for node in nodes:
        if node not in caught_up:
            yield Gap("replication", node, "time to catch up: it had not when it was given up")


def _times_to_catch_up(asked_at_s: float, caught_up: Mapping[str, float], end_s: float) -> Iterator[Measurement]:
    """0 for who had caught up when first asked: how soon is not known, and it was no wait."""
    for node, at_s in caught_up.items():
        yield Measurement("replication.catch_up", max(0.0, at_s - end_s) if at_s > asked_at_s else 0.0, node)


def _caught_up(text: str) -> tuple[float, dict[str, float]]:
    try:
        found = json.loads(text)
        return float(found["asked_at"]), {str(node): float(at_s) for node, at_s in found["caught_up"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ParseError("not times of catching up", file="caught_up.json", line=1, text=text[:200]) from None


def _ahead_of_primary_s(files: Mapping[str, str], offset_s: float) -> float:
    """How far the server's clock is ahead of the primary's."""
    text = files.get("clocks.json", "")
    if not text:
        return offset_s
    try:
        return offset_s - float(json.loads(text)["primary_clock_offset_s"])
    except (ValueError, TypeError, KeyError):
        raise ParseError("not the clocks' offsets", file="clocks.json", line=1, text=text[:200]) from None
