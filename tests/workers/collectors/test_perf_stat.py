"""What perf stat wrote, recorded and constructed, summed over the measured window."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.bundle import costs
from workers.collectors import perf_stat
from workers.collectors.perf_stat.collect import interval_ms
from workers.collectors.perf_stat.parse import parse, read_counts
from workers.collectors.perf_stat.spec import EVENTS

DATA = Path(__file__).parents[2] / "data" / "perf_stat"
COUNT = Path(perf_stat.__file__).with_name("count.sh")
HARDWARE = ["instructions", "cycles", "cache-misses", "branch-misses"]
NO_COUNTERS = "the processor does not count this here; most virtual machines have no such counters"
USER_MODE = "counted in user mode only: the agent's kernel.perf_event_paranoid is above 1"


def reading(file: str, window: tuple[float, float] = (100.5, 102.5), last_s: float = 3.000799120) -> Reading:
    """Of a server whose perf began at second 100, or of a client whose perf counted once."""
    files = {"counts.csv": (DATA / file).read_text(), "ended": f"{100 + last_s:.6f}\n"}
    return Reading("primary", files, {}, window)


def sums(part: Part) -> dict[str, float]:
    return {m.metric.removeprefix("perf_stat."): m.value for m in part.measurements}


def reasons(part: Part) -> list[str]:
    return [gap.reason for gap in part.gaps]


@pytest.mark.parametrize("version", ["4.19", "6.1"])
def test_the_intervals_of_the_window_are_summed(version: str) -> None:
    part = parse(reading(f"hardware-{version}.csv"))
    assert sums(part) == pytest.approx(
        {
            "instructions": 4_198_000_000,
            "cycles": 3_410_000_000,
            "cache_misses": 915_000,
            "branch_misses": 7_410_000,
            "task_clock": 2_014_400,
            "context_switches": 27_110,
            "page_faults": 430,
            "ipc": 4198 / 3410,
        }
    )
    assert part.gaps == ()


def test_an_interval_that_is_over_before_the_window_or_begins_after_it_is_left_out() -> None:
    assert sums(parse(reading("hardware-6.1.csv", (101.2, 101.9))))["instructions"] == 1_500_000_000


def test_a_clock_that_differs_from_the_workers_is_reckoned_with() -> None:
    early = reading("hardware-6.1.csv", (91.2, 91.9))
    shifted = Reading("primary", early.files, {}, early.window, clock_offset_s=10.0)
    assert sums(parse(shifted))["instructions"] == 1_500_000_000


def test_counts_that_miss_part_of_the_window_are_left_out_with_the_reason() -> None:
    part = parse(reading("hardware-6.1.csv", (101.0, 105.0)))
    assert part.measurements == ()
    assert reasons(part) == ["the counts are left out: perf counted from -1.0 s to 2.0 s of a window of 4.0 s"]


def test_a_program_that_perf_started_is_counted_whole() -> None:
    part = parse(reading("hardware-once-6.1.csv"))
    assert (sums(part)["instructions"], sums(part)["task_clock"], sums(part)["ipc"]) == (4e9, 1e6, 1.6)


def test_several_loads_of_a_client_are_added() -> None:
    text = (DATA / "hardware-once-6.1.csv").read_text()
    part = parse(Reading("client", {"one/counts.csv": text, "two/counts.csv": text}, {}, (0.0, 1.0)))
    assert (sums(part)["instructions"], sums(part)["ipc"]) == (8e9, 1.6)


def test_a_processor_without_counters_is_a_gap_and_processor_time_is_counted() -> None:
    part = parse(reading("virtual-6.1.csv", (100.05, 100.2), 0.242900299))
    assert reasons(part) == [f"{', '.join(HARDWARE)}: {NO_COUNTERS}"]
    assert sums(part) == pytest.approx({"task_clock": 27_860, "context_switches": 87, "page_faults": 1466})


def test_user_mode_alone_is_told_and_what_happens_in_the_kernel_left_out() -> None:
    part = parse(reading("virtual-user-6.1.csv", (100.05, 100.35), 0.399072649))
    assert set(sums(part)) == {"task_clock", "page_faults"}
    assert reasons(part) == [
        f"{', '.join(HARDWARE)}: {NO_COUNTERS}",
        "context-switches: it happens in the kernel, where perf may not count (kernel.perf_event_paranoid is above 1)",
        USER_MODE,
    ]


def test_both_kinds_of_cores_are_added() -> None:
    part = parse(reading("hybrid-6.8.csv", (100.1, 100.9), 1.000211734))
    assert sums(part) | {"ipc": 2.0} == {
        "instructions": 4000,
        "cycles": 2000,
        "cache_misses": 40,
        "branch_misses": 20,
        "task_clock": 10_000,
        "page_faults": 7,
        "ipc": 2.0,
    }


def test_estimates_are_told_and_what_never_got_a_counter_is_left_out() -> None:
    part = parse(reading("multiplexed-5.15.csv", (100.1, 100.9), 1.000211734))
    assert "branch_misses" not in sums(part)
    assert reasons(part) == [
        "branch-misses: perf did not count it: no process ran, or other programs had taken the counters",
        "estimated from 67 % of the time: the processor has fewer counters than were asked for",
    ]


@pytest.mark.parametrize(
    "line",
    ["12,,instructions-x,1,100.00,,", "many,,cycles,1,100.00,,", "-1,,cycles,1,100.00", "1,2", "nan,,cycles,1"],
)
def test_what_is_no_count_is_told_with_its_line(line: str) -> None:
    with pytest.raises(ParseError) as raised:
        read_counts(f"# started on Fri\n\n{line}\n")
    assert "not a count of perf stat" in str(raised.value) and "3" in str(raised.value)


def test_counts_in_intervals_without_their_end_are_refused() -> None:
    with pytest.raises(ParseError):
        parse(Reading("primary", {"counts.csv": (DATA / "hardware-6.1.csv").read_text()}, {}, (0.0, 1.0)))


def test_perf_writes_a_thousand_times_in_a_window_but_not_too_often_or_too_seldom() -> None:
    assert [interval_ms(s) for s in (5.0, 300.0, 36_000.0, None)] == [100.0, 300.0, 1000.0, 1000.0]


def test_each_event_is_divided_by_the_transactions() -> None:
    assert {event.metric for event in EVENTS} == set(costs._OF_PROCESSES)


@dataclass(frozen=True)
class Counting:
    """count.sh where `perf` and `ps` are scripts of the test, since what it does at one moment is tested."""

    folder: Path
    environment: Mapping[str, str]

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    @contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            ["sh", str(COUNT)],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                yield process
            finally:
                with suppress(ProcessLookupError):  # all of it has ended
                    os.killpg(process.pid, signal.SIGKILL)

    def wait_for(self, name: str) -> None:
        deadline_s = time.monotonic() + 60
        while not (self.folder / name).exists():
            assert time.monotonic() < deadline_s, f"no {name}"
            time.sleep(0.01)


@pytest.fixture
def counting(tmp_path: Path) -> Counting:
    (tmp_path / "bin").mkdir()
    (tmp_path / "postmaster.pid").write_text("1\n")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    names = {"DATA_DIR": str(tmp_path), "EVENTS": "cycles", "INTERVAL_MS": "100", "PATH": path}
    return Counting(tmp_path, names)


def test_it_has_begun_with_the_first_count_and_not_with_a_perf_that_failed(counting: Counting) -> None:
    counting.program(
        "perf",
        """
        [ -e tried ] || { echo "# started on" >counts.csv; : >tried; exit 1; }
        : >again; until [ -e go ]; do sleep 0.01; done; echo "0.1,5,,cycles,1,100.00,," >counts.csv; exec sleep 60""",
    )
    with counting.started() as process:
        counting.wait_for("again")
        assert not (counting.folder / "begun").exists()
        (counting.folder / "go").touch()
        counting.wait_for("begun")
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=60)[0].startswith("ended ")
        assert process.returncode == 0


def test_a_signal_between_two_tries_ends_it(counting: Counting) -> None:
    counting.program("ps", "trap '' INT; : >listing; until [ -e go ]; do sleep 0.01; done; echo 1 0")
    counting.program("perf", ": >counted; exec sleep 60")
    with counting.started() as process:
        counting.wait_for("listing")
        os.kill(process.pid, signal.SIGINT)
        (counting.folder / "go").touch()
        assert process.communicate(timeout=60)[1] == "ended before it had counted anything\n"
        assert process.returncode == 1
    assert not (counting.folder / "counted").exists()
