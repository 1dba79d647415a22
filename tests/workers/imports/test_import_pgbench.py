"""pgbench's output and log from elsewhere: the numbers of its report, exact latencies of its log, or why not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from statistics import fmean, pstdev

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports.values import ImportedTrial, SourceFile
from results.domain.measurement.histogram import bucket_of
from tests.imported import FOLDER, recorded, text_file
from workers.imports.reading import read_files


def read(*files: SourceFile, program: str = "") -> list[ImportedTrial]:
    return read_files(files, program)[1]


def values(trial: ImportedTrial) -> dict[str, float]:
    return {one.metric: one.value for one in trial.part.measurements if not one.label}


def refused(*files: SourceFile, program: str = "") -> ImportedFileError:
    with pytest.raises(ImportedFileError) as caught:
        read(*files, program=program)
    assert caught.value.what and caught.value.todo
    return caught.value


def test_what_the_terminal_showed_is_a_trial() -> None:
    trial = read(*recorded("pgbench-15.txt"))[0]
    assert values(trial)["tps"] == 3313.542423
    assert values(trial)["transactions"] == 13277
    assert values(trial)["connection.time"] == pytest.approx(6774)
    assert trial.facts == {
        "script": "tpcb-like",
        "scale": 2,
        "protocol": "simple",
        "clients": 4,
        "threads": 2,
        "duration_s": 4,
        "version": "15.18",
        "client_version": "15.18",
    }
    assert [one.name for one in trial.part.series] == ["tps", "latency.mean", "latency.sd", "failed"]


def test_the_version_is_the_servers_where_pgbench_is_another() -> None:
    text = (FOLDER / "pgbench-15.txt").read_text().replace("pgbench (15.18 (", "pgbench (15.18, server 13.3 (")
    trial = read(text_file("a.txt", text))[0]
    assert (trial.facts["version"], trial.facts["client_version"]) == ("13.3", "15.18")


def test_a_log_gives_exact_latencies_of_all_threads() -> None:
    logs = recorded("pgbench-15-c2.log.1", "pgbench-15-c2.log.2")
    trial = read(*recorded("pgbench-15-c2.txt"), *logs)[0]
    latencies = sorted(int(line.split()[2]) for log in logs for line in log.content.decode().splitlines())
    assert len(latencies) == 100
    assert values(trial)["latency.p99"] == latencies[98]
    assert values(trial)["latency.max"] == latencies[-1]
    assert values(trial)["latency.mean"] == pytest.approx(fmean(latencies))
    assert values(trial)["latency.sd"] == pytest.approx(pstdev(latencies))
    assert trial.files == ("pgbench-15-c2.txt", "pgbench-15-c2.log.1", "pgbench-15-c2.log.2")
    assert {one.metric for one in trial.part.measurements} <= {metric.name for metric in trial.part.metrics}


def test_a_log_gives_a_heat_map_from_the_begin_of_the_first_transaction() -> None:
    logs = recorded("pgbench-15-c2.log.1", "pgbench-15-c2.log.2")
    trial = read(*recorded("pgbench-15-c2.txt"), *logs)[0]
    rows = [[int(cell) for cell in line.split()] for log in logs for line in log.content.decode().splitlines()]
    ends = [(row[4] * 1_000_000 + row[5], row[2]) for row in rows]
    begin = min(end - latency for end, latency in ends)
    expected = Counter(((end - begin) // 1_000_000, bucket_of(latency)) for end, latency in ends)
    heat = trial.part.latencies[0].heat
    assert dict(zip(zip(heat.seconds, heat.buckets, strict=True), heat.counts, strict=True)) == expected


def test_each_of_several_outputs_has_the_logs_that_begin_with_its_name() -> None:
    names = ("pgbench-15-c2.txt", "pgbench-15-c2b.txt", "pgbench-15-c2.log.1", "pgbench-15-c2.log.2")
    first, second = read(*recorded(*names, "pgbench-15-c2b.log.1"))
    assert first.files == ("pgbench-15-c2.txt", "pgbench-15-c2.log.1", "pgbench-15-c2.log.2")
    assert second.files == ("pgbench-15-c2b.txt", "pgbench-15-c2b.log.1")


def test_a_log_belongs_to_the_output_with_the_longest_beginning_of_its_name() -> None:
    (output, other), logs = (
        recorded("pgbench-15-c2.txt", "pgbench-15-c2b.txt"),
        recorded("pgbench-15-c2.log.1", "pgbench-15-c2.log.2", "pgbench-15-c2b.log.1"),
    )
    names = ("c2.log.1", "c2.log.2", "c2.2.log.1")
    renamed = [replace(log, name=name) for log, name in zip(logs, names, strict=True)]
    first, second = read(replace(output, name="c2.txt"), replace(other, name="c2.2.txt"), *renamed)
    assert (first.files, second.files) == (("c2.txt", "c2.log.1", "c2.log.2"), ("c2.2.txt", "c2.2.log.1"))
    error = refused(replace(output, name="c2.txt"), replace(other, name="c2.out"), *renamed[:2])
    assert error.what == "The file belongs to two of the outputs."


def test_several_runs_in_a_file_are_not_taken_for_one() -> None:
    first, second = ((FOLDER / name).read_text() for name in ("pgbench-15-c2.txt", "pgbench-15-c4.txt"))
    both = refused(text_file("all.txt", first + second))
    assert (both.what, both.where) == ("The file has the output of several runs.", "all.txt")
    assert both.todo.startswith("Split it")
    text = (FOLDER / "pgbench-15.txt").read_text()
    killed = "".join(text.splitlines(keepends=True)[1:4])  # of a run without vacuum that left no report
    assert refused(text_file("all.txt", killed + text)).why == "The progress at 1 s comes after that at 3 s."
    old = re.sub(r"^pgbench \(.*\n|^starting vacuum.*\n", "", first + second, flags=re.MULTILINE)
    assert refused(text_file("all.txt", old)).what == both.what


def test_a_log_of_another_run_or_without_a_thread_is_refused() -> None:
    error = refused(*recorded("pgbench-15-c2.txt", "pgbench-15-c2.log.1"))
    assert error.what == "The log has 50 transactions, the report 100."
    lone = refused(*recorded("pgbench-15-c2.txt", "pgbench-15-c4.txt", "pgbench-15-c2b.log.1"))
    assert lone.what == "The file belongs to none of the outputs."
    assert "no report of pgbench" in refused(*recorded("pgbench-15-c2b.log.1")).what


def test_a_damaged_log_names_the_line() -> None:
    log = (FOLDER / "pgbench-15-c2b.log.1").read_text().splitlines()
    log[2] = log[2][:9]
    error = refused(*recorded("pgbench-15-c2b.txt"), text_file("x.log", "\n".join(log)))
    assert error.where == "x.log:3"


def test_an_aborted_run_is_refused_with_its_reason() -> None:
    error = refused(*recorded("pgbench-15-aborted.txt"))
    assert error.where == "pgbench-15-aborted.txt"
    assert "terminating connection due to administrator command" in error.why


def test_an_abort_is_seen_on_standard_output_alone() -> None:
    text = (FOLDER / "pgbench-15-aborted.txt").read_text()
    report = text[text.index("pgbench (15.18") :]
    assert refused(text_file("a.txt", report)).why.startswith("It ended after 2.0 s of 4 s")
    fewer = (FOLDER / "pgbench-15-c2.txt").read_text().replace("processed: 100/100", "processed: 60/100")
    assert refused(text_file("a.txt", fewer)).why == "It ended after 60 of 100 transactions."


def test_a_cut_output_is_refused() -> None:
    text = (FOLDER / "pgbench-15.txt").read_text()
    error = refused(text_file("a.txt", text[: text.index("tps = ")]))
    assert error.what == "The output ends before pgbench's result: it has no line 'tps ='."


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_what_is_no_number_is_never_a_value(value: str) -> None:
    text = (FOLDER / "pgbench-15.txt").read_text().replace("tps = 3313.542423", f"tps = {value}")
    assert refused(text_file("a.txt", text)).where == "a.txt"
