"""JdbcRunner's output with its two result files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports.values import ImportedTrial, SourceFile
from tests.imported import FOLDER, recorded, text_file
from workers.imports.reading import read_files


def read(*files: SourceFile) -> list[ImportedTrial]:
    chosen, trials = read_files(files)
    assert chosen.name == "jdbcrunner"
    return trials


def values(trial: ImportedTrial) -> dict[tuple[str, str], float]:
    return {(one.metric, one.label): one.value for one in trial.part.measurements}


def test_one_kind_of_transaction() -> None:
    trial = read(*recorded("jdbcrunner-tpcb.txt", "jdbcrunner-tpcb_r.csv", "jdbcrunner-tpcb_t.csv"))[0]
    numbers = values(trial)
    assert numbers["tps", ""] == 495.5
    assert numbers["transactions", ""] == 1982
    assert numbers["jdbcrunner.latency.p95", ""] == 11_000
    assert numbers["jdbcrunner.latency.mean", ""] == pytest.approx(3519.677, abs=0.001)
    assert trial.facts == {"clients": 2, "duration_s": 4, "scale": 1, "client_version": "JdbcRunner 1.3.1"}
    assert trial.workload == "JdbcRunner tpcb"
    assert trial.part.series[0].values == (423, 412, 549, 598)


def test_several_kinds_have_names_and_a_total() -> None:
    numbers = values(read(*recorded("jdbcrunner-tpcc.txt"))[0])
    assert numbers["tps", ""] == pytest.approx((342 + 343 + 34 + 35 + 33) / 5)
    assert numbers["tps", "Order-Status"] == pytest.approx(6.8)
    assert numbers["jdbcrunner.latency.p99", "Stock-Level"] == 135_000


def test_result_files_go_to_the_output_of_their_start_or_name() -> None:
    text = (FOLDER / "jdbcrunner-tpcc_t.csv").read_text()
    by_start = text_file("log_20261125-163904_t.csv", text)
    files = recorded("jdbcrunner-tpcb.txt", "jdbcrunner-tpcc.txt", "jdbcrunner-tpcb_r.csv")
    first, second = read(*files, by_start)
    assert first.files == ("jdbcrunner-tpcb.txt", "jdbcrunner-tpcb_r.csv")
    assert second.files == ("jdbcrunner-tpcc.txt", "log_20261125-163904_t.csv")


def test_a_result_file_belongs_to_the_output_with_the_longest_beginning_of_its_name() -> None:
    names = {
        "jdbcrunner-tpcb.txt": "a.txt",
        "jdbcrunner-tpcc.txt": "a_b.txt",
        "jdbcrunner-tpcb_t.csv": "a_t.csv",
        "jdbcrunner-tpcc_t.csv": "a_b_t.csv",
    }
    files = [replace(file, name=names[file.name]) for file in recorded(*names)]
    assert [trial.files for trial in read(*files)] == [("a.txt", "a_t.csv"), ("a_b.txt", "a_b_t.csv")]


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["jdbcrunner-error.txt"], "The output ends before the program's result."),
        (["jdbcrunner-tpcb_r.csv"], "There is a result file, but not what JdbcRunner printed."),
        (["jdbcrunner-tpcb.txt", "jdbcrunner-tpcc_r.csv"], "This is no row of JdbcRunner's result file."),
        (["jdbcrunner-tpcb.txt", "jdbcrunner-tpcc.txt", "jdbcrunner-error.txt"], "The output ends before"),
    ],
)
def test_what_does_not_belong_together_is_refused(names: list[str], what: str) -> None:
    with pytest.raises(ImportedFileError) as caught:
        read(*recorded(*names))
    assert caught.value.what.startswith(what)
    assert caught.value.todo


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "4,598\n",
            "",
            "There are 3 seconds in the file, 4 in the output; 1,384 transactions in the file, 1,982 in the",
        ),
        ("4,598", "4,603", "There are 1,987 transactions in the file, 1,982 in the output."),
    ],
)
def test_the_rates_of_another_run_are_refused(old: str, new: str, why: str) -> None:
    output, rates = recorded("jdbcrunner-tpcb.txt", "jdbcrunner-tpcb_t.csv")
    with pytest.raises(ImportedFileError) as caught:
        read(output, text_file("t.csv", rates.content.decode().replace(old, new)))
    assert caught.value.where == "t.csv, jdbcrunner-tpcb.txt"
    assert caught.value.why.startswith(why)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("1982 tx", "19.82 tx", "This is not as JdbcRunner prints it."),
        ("1982 tx", f"{'9' * 5000} tx", "This is not as JdbcRunner prints it."),
        ("8 msec", "0.0.1 msec", "This is not as JdbcRunner prints it."),
        ("8 msec", "8,9 msec", "This is not as JdbcRunner prints it."),
        ("1982 tx", "0 tx", "The output ends before the program's result."),
    ],
)
def test_lines_that_jdbcrunner_does_not_print_are_refused(old: str, new: str, what: str) -> None:
    text = recorded("jdbcrunner-tpcb.txt")[0].content.decode()
    with pytest.raises(ImportedFileError) as caught:
        read(text_file("a.txt", text.replace(f"] {old}", f"] {new}")))
    assert caught.value.what == what


def test_the_counts_of_another_run_and_several_runs_in_one_log_are_refused() -> None:
    output, counts = recorded("jdbcrunner-tpcb.txt", "jdbcrunner-tpcb_r.csv")
    with pytest.raises(ImportedFileError, match=r"The file counts 1,981 transactions, the output 1,982\."):
        read(output, text_file("r.csv", counts.content.decode().replace("0,177", "0,176", 1)))
    with pytest.raises(ImportedFileError, match="The file has the output of several runs"):
        read(text_file("jdbcrunner.log", output.content.decode() * 2))
