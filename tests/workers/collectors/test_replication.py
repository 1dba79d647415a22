"""Lag of recorded servers, read back."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.collectors.replication.parse import parse

DATA = Path(__file__).parents[2] / "data" / "replication"


def recorded(case: str, node: str, offset_s: float = 0.0, **changed: str) -> Part:
    start_s, end_s = json.loads((DATA / case / "window.json").read_text())
    files = {path.name: path.read_text() for path in (DATA / case / node).iterdir()}
    files |= {name.replace("_txt", ".txt").replace("_json", ".json"): text for name, text in changed.items()}
    return parse(Reading(node, files, {}, (start_s, end_s), offset_s))


def values(part: Part) -> dict[tuple[str, str, str], float]:
    return {(m.metric, m.node, m.label): m.value for m in part.measurements}


@pytest.mark.parametrize("version", ["16", "18"])
def test_a_standby_that_applies_a_second_late_is_a_second_behind(version: str) -> None:
    shown = values(recorded(f"late-{version}", "primary"))
    assert 0.95 <= shown["replication.lag.max", "standby1", ""] < 1.2
    assert shown["replication.lag.max", "standby1", "flushed"] < 0.1
    assert shown["replication.lag_bytes", "standby1", ""] > 100_000 > shown["replication.lag_bytes", "standby1", "sent"]
    assert 0.9 <= shown["replication.catch_up", "standby1", ""] < 1.2
    assert {node for _, node, _ in shown} == {"standby1"}, "the sender itself is behind nobody"


@pytest.mark.parametrize("version", ["16", "18"])
def test_what_it_replays_is_a_second_old_whatever_came_before_the_trial(version: str) -> None:
    """The first samples of the window tell the end of the trial before, a quarter of an hour ago."""
    shown = values(recorded(f"late-{version}", "standby1"))
    assert 0.95 <= shown["replication.replay_age.max", "standby1", ""] < 1.2
    assert sorted({metric for metric, _, _ in shown}) == [
        "replication.replay_age",
        "replication.replay_age.max",
    ]


def test_below_a_cascading_standby_all_is_filed_under_those_below() -> None:
    part = recorded("cascade-16", "cascade")
    shown = values(part)
    for node in ("standby1", "standby2"):
        assert shown["replication.lag_bytes", node, ""] >= 0
        assert shown["replication.catch_up", node, ""] == 0, "it had when first asked"
    assert ("replication.replay_age", "cascade", "") in shown
    assert not part.gaps


def test_a_mean_and_a_maximum_can_be_recomputed_from_the_series() -> None:
    part = recorded("late-16", "primary")
    [lag] = [one for one in part.series if one.name == "replication.lag_bytes" and not one.label]
    assert lag.node == "standby1"
    assert list(lag.values) == [0, 997432, 1343552, 1073240, 1230816, 1090376]
    assert values(part)["replication.lag_bytes", "standby1", ""] == (997432 + 1343552 + 1073240 + 1230816) / 4


def line(
    at_s: float, *standbys: dict[str, object], replayed_all: bool | None = None, replayed_at: object = None
) -> str:
    return json.dumps(
        {"at": at_s, "replayed_at": replayed_at, "replayed_all": replayed_all, "standbys": list(standbys) or None}
    )


def behind(node: str, size: int | None, seconds: float | None) -> dict[str, object]:
    stages = ("sent", "write", "flush", "replay")
    return {"node": node} | {f"{s}_bytes": size for s in stages} | {f"{s}_s": seconds for s in stages}


def caught_up(asked_at_s: float, **nodes: float) -> str:
    return json.dumps({"asked_at": asked_at_s, "caught_up": nodes})


def read(*lines: str, offset_s: float = 0.0, **files: str) -> Part:
    """Of a window of ten seconds from second 100."""
    texts = {"samples.txt": "".join(f"{line}\n" for line in lines)}
    texts |= {name.replace("_json", ".json"): text for name, text in files.items()}
    return parse(Reading("primary", texts, {}, (100.0, 110.0), offset_s))


def test_a_time_that_the_server_does_not_tell_is_zero_only_with_nothing_to_wait_for() -> None:
    part = read(line(101, behind("a", 0, None)), line(102, behind("a", 500, None)), line(109.5, behind("a", 500, 0.5)))
    [lag] = [one for one in part.series if (one.name, one.label) == ("replication.lag", "")]
    assert lag.values[0] == 0 and math.isnan(lag.values[1]) and lag.values[2] == 0.5


def test_a_time_that_the_server_never_knew_is_a_gap_and_no_number() -> None:
    part = read(line(101, behind("a", 500, None)), line(109.5, behind("a", 500, None)), line(111, behind("a", 0, 0.1)))
    assert ("replication.lag", "a", "") not in values(part)
    [gap] = part.gaps
    assert gap.node == "a" and "replication.lag, replication.lag written" in gap.reason and "2 samples" in gap.reason


def test_a_standby_that_was_away_leaves_a_gap_in_its_series() -> None:
    part = read(line(101, behind("a", 7, 0.1), behind("b", 9, 0.1)), line(109.5, behind("b", 9, 0.1)))
    [lag] = [one for one in part.series if (one.name, one.node, one.label) == ("replication.lag_bytes", "a", "")]
    assert lag.values[0] == 7 and math.isnan(lag.values[1])
    assert values(part)["replication.lag_bytes", "a", ""] == 7


def test_ages_are_corrected_for_both_clocks() -> None:
    """The standby's clock is 5 s ahead of the worker's, the primary's 3 s: the same moment is 2 s later there."""
    samples = [line(at, replayed_all=False, replayed_at=at - 2 - 0.25) for at in (106, 114.5)]
    part = read(*samples, offset_s=5.0, clocks_json='{"primary_clock_offset_s": 3}')
    assert [one.values for one in part.series] == [(0.25, 0.25)]
    assert [one.times_s for one in part.series] == [(1.0, 9.5)]


def test_who_had_caught_up_when_first_asked_took_no_time() -> None:
    shown = values(read(line(109.5, behind("a", 0, 0.1)), caught_up_json=caught_up(110.4, a=110.39, b=110.6)))
    assert shown["replication.catch_up", "a", ""] == 0
    assert shown["replication.catch_up", "b", ""] == pytest.approx(0.6)


def test_who_did_not_catch_up_is_a_gap_and_no_number() -> None:
    part = read(line(109.5, behind("a", 7, 0.1), behind("b", 7, 0.1)), caught_up_json=caught_up(110.2, a=110.5))
    assert values(part)["replication.catch_up", "a", ""] == pytest.approx(0.5)
    assert [(gap.node, gap.source) for gap in part.gaps] == [("b", "replication")]


def test_samples_that_end_too_early_are_a_gap() -> None:
    assert "window of 10.0 s" in read(line(103, behind("a", 7, 0.1))).gaps[0].reason


def test_a_server_that_neither_sends_nor_replays_says_nothing() -> None:
    assert read(line(101), line(109.5)) == Part()


@pytest.mark.parametrize(
    "text", ["nothing", "{}", '{"at": 1, "replayed_at": null, "replayed_all": 1, "standbys": [1]}']
)
def test_a_damaged_line_is_named(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        recorded("late-16", "primary", samples_txt=f"{line(1)}\n{text}\n{line(2)}")
    assert (caught.value.where, "not a sample of replication" in str(caught.value)) == ("samples.txt:2", True)


def test_a_half_line_at_the_end_is_left_out() -> None:
    whole = (DATA / "late-16" / "primary" / "samples.txt").read_text()
    assert recorded("late-16", "primary", samples_txt=whole + '{"at": 17') == recorded("late-16", "primary")


@pytest.mark.parametrize("text", ["", "[]", '{"caught_up": {}}', '{"asked_at": 1, "caught_up": {"a": "soon"}}'])
def test_damaged_times_of_catching_up_are_named(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        recorded("late-16", "primary", caught_up_json=text)
    assert "not times of catching up" in str(caught.value)
