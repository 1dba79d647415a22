"""sadf's JSON, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results.domain.errors import ParseError
from results.domain.json_text import MOST_CHARACTERS
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.collectors.sar import read
from workers.collectors.sar.parse import parse
from workers.collectors.sar.spec import SPEC

RECORDED = Path(__file__).parents[2] / "data" / "sar" / "12.6.1"
START_S = 1795227957.0  # 2026-11-21 02:25:57 UTC


def sadf(*samples: dict[str, Any]) -> str:
    return json.dumps({"sysstat": {"hosts": [{"nodename": "a", "statistics": list(samples)}]}})


def sample(second: int, **values: Any) -> dict[str, Any]:
    stamp = {"date": "2026-11-21", "time": f"02:26:{second:02d}", "utc": 1, "interval": 1}
    return {"timestamp": stamp, **values}


def cpu(busy: float) -> list[dict[str, Any]]:
    return [{"cpu": "all", "usr": busy, "sys": 0.0, "idle": 100.0 - busy}]


def parsed(text: str, window: tuple[float, float], started: str = "", offset_s: float = 0.0) -> Part:
    files = {"sadf.json": text} | ({"started": started} if started else {})
    return parse(Reading("primary", files, {}, window, offset_s))


def values(part: Part) -> dict[tuple[str, str], float]:
    return {(m.metric, m.label): m.value for m in part.measurements}


def recorded() -> Part:
    files = {name: (RECORDED / name).read_text() for name in ("sadf.json", "started")}
    start_s, end_s = json.loads((RECORDED / "window.json").read_text())
    return parse(Reading("primary", files, {}, (start_s, end_s)))


def test_a_recorded_run_gives_every_declared_metric() -> None:
    stored_values = values(recorded())
    assert {metric for metric, _ in stored_values} == {metric.name for metric in SPEC.metrics}
    assert ("cpu.busy", "cpu1") in stored_values
    assert all(m.node == "primary" for m in recorded().measurements)


def test_states_of_the_processors_add_up() -> None:
    stored_values = values(recorded())
    states = ("cpu.user", "cpu.system", "cpu.iowait", "cpu.steal", "cpu.idle")
    assert sum(stored_values[state, ""] for state in states) == pytest.approx(100, abs=0.1)
    assert stored_values["cpu.busy", ""] == pytest.approx(
        100 - stored_values["cpu.idle", ""] - stored_values["cpu.iowait", ""], abs=0.1
    )


def test_seconds_of_a_recorded_run_begin_with_its_window() -> None:
    series = next(one for one in recorded().series if one.name == "cpu.busy" and not one.label)
    assert series.times() == pytest.approx([1, 2, 3], abs=0.05)


def test_devices_that_did_nothing_are_left_out() -> None:
    labels = {one.label for one in recorded().series if one.name.startswith(("disk.", "network."))}
    assert "vda" in labels
    assert "ifb0" not in labels


def test_only_whole_seconds_inside_the_window_are_averaged() -> None:
    text = sadf(*(sample(second, **{"cpu-load": cpu(10.0 * second)}) for second in range(1, 7)))
    at = START_S + 3  # 02:26:00
    part = parsed(text, (at + 1.5, at + 4.6), started=f"{at + 0.5:.3f}")
    # samples end at 1.5, 2.5 … 6.5: those of 2.5, 3.5 and 4.5 lie wholly inside
    assert values(part)["cpu.busy", ""] == pytest.approx((20 + 30 + 40) / 3)


def test_times_are_on_the_workers_clock() -> None:
    at = START_S + 3
    text = sadf(sample(1, **{"cpu-load": cpu(10)}), sample(2, **{"cpu-load": cpu(20)}))
    series = parsed(text, (at - 100, at - 95), started=f"{at + 0.25:.3f}", offset_s=100.0).series[0]
    assert series.times() == pytest.approx([1.25, 2.25])


def test_a_sample_that_falls_past_the_whole_second_is_not_a_second_late() -> None:
    at = START_S + 3
    # started at .99 and ready 30 ms later: the first sample ends at 2.02, though a fraction of .99 was written down
    text = sadf(*(sample(second, **{"cpu-load": cpu(50)}) for second in (2, 3, 4)))
    series = parsed(text, (at, at + 5), started=f"{at + 0.99:.3f}").series[0]
    assert series.times() == pytest.approx([2, 3, 4], abs=0.05)


def test_a_second_that_sar_skips_moves_no_later_one() -> None:
    at = START_S + 3
    samples = [sample(second, **{"cpu-load": cpu(50)}) for second in (1, 2, 5, 6)]
    samples[2]["timestamp"]["interval"] = 3
    series = parsed(sadf(*samples), (at, at + 7), started=f"{at + 0.4:.3f}").series[0]
    assert series.times() == pytest.approx([1.4, 2.4, 5.4, 6.4])


def test_intervals_that_are_a_little_longer_are_caught_up_with() -> None:
    at = START_S + 3
    # 1.97, 2.98, 3.99, 5.00, 6.01
    text = sadf(*(sample(second, **{"cpu-load": cpu(50)}) for second in (1, 2, 3, 5, 6)))
    series = parsed(text, (at, at + 7), started=f"{at + 0.96:.3f}").series[0]
    assert series.times() == pytest.approx([1.97, 2.98, 3.99, 5.0, 6.01], abs=0.05)


@pytest.mark.parametrize(("length_s", "gap"), [(9.9, False), (10.5, True), (300, True)])
def test_a_sar_that_ended_well_before_the_window_is_a_gap(length_s: float, gap: bool) -> None:
    text = sadf(*(sample(second, **{"cpu-load": cpu(50)}) for second in range(1, 8)))
    part = parsed(text, (START_S + 3, START_S + 3 + length_s), started=f"{START_S + 3:.1f}")
    assert [g.reason for g in part.gaps] == [f"the last sample lies 7.0 s into a window of {length_s:.1f} s"] * gap
    assert values(part)["cpu.busy", ""] == 50


def test_a_window_without_a_whole_second_is_a_gap_and_no_number() -> None:
    at = START_S + 3
    text = sadf(*(sample(second, **{"cpu-load": cpu(50)}) for second in (1, 2)))
    part = parsed(text, (at + 0.9, at + 1.6), started=f"{at:.3f}")
    assert part.measurements == ()
    assert "0.7 s" in part.gaps[0].reason
    assert part.series


def test_no_sample_at_all_is_a_gap() -> None:
    part = parsed(sadf(), (START_S, START_S + 1))
    assert "too short" in part.gaps[0].reason


def test_the_keys_of_older_versions_are_read() -> None:
    # sysstat 10 and 11: cpu-load-all, sectors of 512 bytes, the sum of interrupts as a value
    text = sadf(
        sample(
            2,
            **{
                "cpu-load-all": [{"cpu": "all", "user": 30.0, "nice": 1.0, "system": 9.0, "irq": 1.0, "idle": 59.0}],
                "disk": [{"disk-device": "sda", "tps": 3.0, "rd_sec": 4.0, "wr_sec": 8.0, "util-percent": 5.0}],
                "interrupts": [{"intr": "sum", "value": 700.0}],
            },
        )
    )
    at = START_S + 3
    stored_values = values(parsed(text, (at, at + 10), started=f"{at:.1f}"))
    assert stored_values["cpu.user", ""] == 31
    assert stored_values["cpu.system", ""] == 10
    assert stored_values["cpu.busy", ""] == 41
    assert (stored_values["disk.read", "sda"], stored_values["disk.write", "sda"]) == (2048, 4096)
    assert stored_values["interrupts", ""] == 700


def test_a_device_that_comes_later_has_a_gap_before() -> None:
    disk = [{"disk-device": "sdb", "rkB": 1.0, "wkB": 1.0, "util-percent": 1.0}]
    part = parsed(sadf(sample(1), sample(2, disk=disk)), (START_S, START_S + 10))
    read = next(one for one in part.series if one.name == "disk.read")
    assert read.values[0] != read.values[0]
    assert read.values[1] == 1024


def test_restarts_of_the_machine_are_passed_over() -> None:
    text = sadf({"restart": {"date": "2026-11-21"}}, sample(1, **{"cpu-load": cpu(5)}))
    assert len(parsed(text, (START_S, START_S + 10)).series[0].values) == 1


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("{", "sadf.json:1"),
        ("[]", "sadf.json:1"),
        ('{"sysstat": {}}', "sadf.json:1"),
        (sadf(sample(1, **{"cpu-load": [{}]})), "sadf.json:1"),
        (sadf(sample(1, memory={"memused": "much"})), "sadf.json:1"),
    ],
)
def test_other_text_is_refused(text: str, where: str) -> None:
    with pytest.raises(ParseError) as caught:
        parsed(text, (START_S, START_S + 1))
    assert caught.value.where == where


def test_an_hour_of_128_processors_is_read_as_its_seconds_are() -> None:
    """More than `json_text.loads` reads: 128 processors, 3,600 s, 150 bytes each."""
    rows = cpu(50) + [{"cpu": str(number), "usr": 25.0, "pad": "x" * 130} for number in range(128)]
    one = json.dumps(sample(1, **{"cpu-load": rows}))
    text = sadf().replace("[]", f"[{', '.join([one] * (MOST_CHARACTERS // len(one) + 1))}]")
    assert len(text) > MOST_CHARACTERS
    part = parsed(text, (START_S, START_S + 10))
    assert (values(part)["cpu.busy", ""], values(part)["cpu.busy", "cpu127"]) == (50, 25)
    assert len(part.series) == 6 + 128


def test_samples_times_devices_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MOST_VALUES", 1000)
    disks = [{"disk-device": f"d{number}", "rkB": 1.0} for number in range(20)]
    text = sadf(*(sample(second) for second in range(1, 20)), sample(20, disk=disks))
    with pytest.raises(ParseError, match="more than 1,000 values"):
        parsed(text, (START_S, START_S + 10))


def test_a_report_that_was_cut_off_is_named_with_its_line() -> None:
    text = (RECORDED / "sadf.json").read_text()
    for length in range(0, len(text.rstrip()), 50):
        with pytest.raises(ParseError) as refused:
            parsed(text[:length], (START_S, START_S + 1))
        assert refused.value.file == "sadf.json"
        assert refused.value.line >= text[:length].count("\n")


@pytest.mark.parametrize(
    "text",
    [
        sadf(sample(1)).replace('"nodename": "a", ', '"statistics": [], "x": '),
        '{"sysstat": {"hosts": [{}, {"statistics": []}]}}',
        '{"sysstat": {"hosts": [{"statistics": [], "statistics": [1]}]}}',
        f"{sadf(sample(1))} x",
    ],
)
def test_samples_at_another_place_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parsed(text, (START_S, START_S + 1))


def test_without_files_there_is_nothing() -> None:
    assert parse(Reading("primary", {}, {}, (0.0, 1.0))) == Part()
