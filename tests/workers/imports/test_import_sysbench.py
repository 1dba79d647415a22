"""sysbench's output: the numbers as it prints them, and what is no result."""

from __future__ import annotations

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports.values import ImportedTrial
from tests.imported import FOLDER, recorded, text_file
from workers.imports.reading import read_files


def read(name: str) -> ImportedTrial:
    chosen, trials = read_files(recorded(name))
    assert chosen.name == "sysbench"
    return trials[0]


def values(trial: ImportedTrial) -> dict[str, float]:
    return {one.metric: one.value for one in trial.part.measurements}


def test_the_report_and_its_rates_over_time_are_read() -> None:
    trial = read("sysbench-oltp-read-write.txt")
    assert values(trial) == pytest.approx(
        {
            "transactions": 4817,
            "tps": 820.59,
            "sysbench.qps": 16454.59,
            "sysbench.ignored_errors": 14,
            "sysbench.reconnects": 0,
            "latency.mean": 11703450 / 4817,
            "latency.max": 1_011_370,
            "sysbench.latency.p99": 4330,
        }
    )
    assert trial.facts == {"clients": 2, "client_version": "sysbench 1.0.20"}
    tps = trial.part.series[0]
    assert (tps.name, tps.times_s, tps.values) == (
        "tps",
        (1.0, 2.0, 3.0, 4.0, 5.0),
        (1119.8, 1050.85, 883.7, 865.82, 892.5),
    )


def test_a_histogram_before_the_report_and_no_percentile_change_nothing() -> None:
    assert values(read("sysbench-oltp-read-only-histogram.txt"))["sysbench.latency.p95"] == 530
    without = values(read("sysbench-oltp-update-index-no-percentile.txt"))
    assert without["transactions"] == 18702
    assert not [name for name in without if name.startswith("sysbench.latency")]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("sysbench-killed.txt", "The run was broken off, or the file was cut."),
        ("sysbench-no-database.txt", "FATAL: Connection to database failed"),
        ("sysbench-cpu.txt", "It has no SQL statistics."),
    ],
)
def test_what_is_no_result_is_refused(name: str, why: str) -> None:
    with pytest.raises(ImportedFileError) as caught:
        read(name)
    assert caught.value.where == name
    assert caught.value.why.startswith(why)
    assert caught.value.todo


@pytest.mark.parametrize("end", [None, -900])
def test_several_runs_in_a_file_are_not_taken_for_one(end: int | None) -> None:
    first = (FOLDER / "sysbench-oltp-read-write.txt").read_text()[:end]
    second = (FOLDER / "sysbench-oltp-update-index-no-percentile.txt").read_text()
    with pytest.raises(ImportedFileError, match="The file has the output of several runs"):
        read_files([text_file("all.txt", first + second)])


def test_every_cut_of_the_report_is_refused() -> None:
    text = (FOLDER / "sysbench-oltp-read-write.txt").read_text()
    for end in range(len(text[: text.index("max:")]), 60, -97):
        with pytest.raises(ImportedFileError):
            read_files([text_file("cut.txt", text[:end])])
