"""Which program's output a file is, and files that are none's: each refused with what, where and what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from results.domain.errors import ImportedFileError
from results.domain.imports import text
from results.domain.imports.values import ImportedTrial, SourceFile
from tests.imported import recorded, text_file
from workers.imports.reading import FORMATS, read_files

PGBENCH = recorded("pgbench-15.txt")[0]


@pytest.mark.parametrize(
    ("files", "where", "what"),
    [
        ([], "file", "There is no file."),
        ([SourceFile("a.txt", b"")], "a.txt", "The file is empty."),
        ([SourceFile("a.txt", b" \n\n")], "a.txt", "The file is empty."),
        ([SourceFile("a.png", b"\x89PNG\r\n\x1a\n\0\0\0")], "a.png:1", "The file is binary, not text."),
        ([SourceFile("a.bin", b"tps\0= 1")], "a.bin", "The file is binary, not text."),
        ([text_file("a.txt", "速度\n", "cp932")], "a.txt:1", "The file is not UTF-8 text."),
        ([text_file("a.txt", "Hello")], "a.txt", "The file is output of no program known here."),
        ([PGBENCH, SourceFile("copy.txt", PGBENCH.content)], "copy.txt", "The file is the same as pgbench-15.txt."),
        ([PGBENCH, SourceFile(PGBENCH.name, b"x")], "pgbench-15.txt", "Two files have this name."),
        ([PGBENCH, text_file("a.txt", "Hello")], "a.txt", "The file is output of no program known here."),
    ],
)
def test_files_that_are_no_result(files: list[SourceFile], where: str, what: str) -> None:
    with pytest.raises(ImportedFileError) as caught:
        read_files(files)
    error = caught.value
    assert (error.where, error.what) == (where, what)
    assert error.todo


def test_a_file_too_large_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LARGEST_FILE_BYTES", 100)
    with pytest.raises(ImportedFileError, match="The file has 720 B"):
        read_files([PGBENCH])


def test_too_many_files_are_refused() -> None:
    with pytest.raises(ImportedFileError, match="201 files are too many"):
        read_files([text_file(f"{number}.txt", str(number)) for number in range(201)])


def test_files_of_two_programs_and_of_another_than_chosen_are_refused() -> None:
    other = recorded("sysbench-oltp-read-write.txt")[0]
    with pytest.raises(ImportedFileError, match=r"The file is output of sysbench, not of pgbench\."):
        read_files([PGBENCH, other])
    with pytest.raises(ImportedFileError, match=r"The file is output of pgbench, not of HammerDB\."):
        read_files([PGBENCH], "hammerdb")


@pytest.mark.parametrize(
    "name",
    [
        "pgbench-15.txt",
        "pgbench-15-c2.log.1",
        "sysbench-cpu.txt",
        "jdbcrunner-tpcc.txt",
        "jdbcrunner-tpcc_r.csv",
        "jdbcrunner-tpcc_t.csv",
        "hammerdb-6.0-report.json",
        "hammerdb-4.6-job.json",
        "benchbase.summary.json",
    ],
)
def test_each_file_is_output_of_one_program_only(name: str) -> None:
    text = recorded(name)[0].content.decode()
    assert [one.name for one in FORMATS.values() if one.recognises(text)] == [name.partition("-")[0].split(".")[0]]


def test_a_reader_that_fails_is_an_error_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(texts: object) -> list[ImportedTrial]:
        raise IndexError("list index out of range")

    monkeypatch.setitem(FORMATS, "pgbench", replace(FORMATS["pgbench"], read=fail))
    with pytest.raises(ImportedFileError, match="Teiten itself failed on output of pgbench: IndexError"):
        read_files([PGBENCH])


def test_a_program_nobody_knows_is_refused() -> None:
    with pytest.raises(ImportedFileError, match="There is no program 'swingbench'"):
        read_files([PGBENCH], "swingbench")


def test_a_byte_order_mark_and_other_line_ends_change_nothing() -> None:
    marked = SourceFile("a.txt", b"\xef\xbb\xbf" + PGBENCH.content.replace(b"\n", b"\r\n"))
    assert read_files([marked])[1][0].part == read_files([PGBENCH])[1][0].part
