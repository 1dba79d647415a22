"""What perf recorded, folded by awk and read back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.call_stacks import cut_share, frames, unnamed_share
from results.domain.measurement.parsed_trial import Part
from workers.collectors.perf import spec
from workers.collectors.perf.collect import slices
from workers.collectors.perf.parse import parse, read_recorded, read_stacks

PERF = Path(spec.__file__).parent
DATA = Path(__file__).parents[2] / "data" / "perf"
RECORDED = "event cpu-clock:u\ngraph dwarf\nfrequency 99\nbegan 102.0\nended 107.5\nover 107.7\n"
STACKS = "3 client backend;main;a;b\n1 checkpointer;main;c\nlost 0\n"


def folded(text: str, tmp_path: Path) -> tuple[dict[str, int], int]:
    shutil.copy(DATA / "processes.txt", tmp_path / "processes")
    argv = ["awk", "-v", "server=postgres", (PERF / "fold.awk").read_text(), "processes", "-"]
    done = subprocess.run(argv, cwd=tmp_path, input=text, capture_output=True, text=True, check=True)
    return read_stacks(done.stdout)


def of_file(name: str, tmp_path: Path) -> dict[str, int]:
    stacks, _ = folded((DATA / name).read_text(), tmp_path)
    return stacks


@pytest.mark.parametrize("path", sorted(DATA.glob("*-1?.txt")), ids=lambda path: str(path.stem))
def test_no_sample_gets_lost_in_folding(path: Path, tmp_path: Path) -> None:
    samples = [line for line in path.read_text().splitlines() if "cpu-clock" in line]
    assert sum(of_file(path.name, tmp_path).values()) == len(samples) > 7


def test_a_stack_begins_with_the_kind_of_process_and_ends_with_the_function_sampled(tmp_path: Path) -> None:
    stacks = of_file("dwarf-12.txt", tmp_path)
    lexing = next(stack for stack in stacks if "core_yylex" in stack)
    assert lexing == (
        "client backend;_start;__libc_start_main [libc.so.6];__libc_start_call_main [libc.so.6];main;PostmasterMain;"
        "ServerLoop;PostgresMain;exec_simple_query;pg_parse_query;raw_parser;base_yyparse;base_yylex;core_yylex"
    )
    assert cut_share(stacks) == 2 / 12  # deeper than the stack that perf copies


def test_kernel_functions_and_those_without_a_name_are_told_by_where_they_are(tmp_path: Path) -> None:
    names = {name for stack in of_file("kernel-15.txt", tmp_path) for name in frames(stack)}
    assert {"finish_task_switch [kernel]", "do_syscall_64 [kernel]", "epoll_wait [libc.so.6]", "[postgres]"} <= names
    names = {name for stack in of_file("frame-pointers-15.txt", tmp_path) for name in frames(stack)}
    assert "__vdso_gettimeofday [vdso]" in names
    assert 0 < unnamed_share(of_file("frame-pointers-15.txt", tmp_path)) < 0.5


def test_without_callers_a_sample_is_one_function(tmp_path: Path) -> None:
    stacks = of_file("no-callers-15.txt", tmp_path)
    assert all(len(frames(stack)) == 1 for stack in stacks)
    assert sum(count for stack, count in stacks.items() if stack.endswith(";base_yyparse")) == 3


def test_the_kind_of_process_is_its_title_unless_the_stack_knows_better(tmp_path: Path) -> None:
    sample = "postgres {} cpu-clock:u: \n\t  1 x (/opt/bin/postgres)\n\t  2 {} (/opt/bin/postgres)\n\n"
    cases = {
        (18430, "ServerLoop"): "postmaster",
        (18431, "x"): "checkpointer",
        (18446, "PostgresMain"): "client backend",
        (18447, "x"): "client backend",
        (18448, "PostgresMain"): "parallel worker",
        (18449, "BackgroundWorkerMain"): "background worker",
        (18506, "x"): "logical replication worker",
        (1, "ParallelWorkerMain"): "parallel worker",
        (2, "PostgresMain"): "client backend",
        (3, "x"): "other process",
    }
    for (pid, function), kind in cases.items():
        [stack] = folded(sample.format(pid, function), tmp_path)[0]
        assert (pid, function, stack) == (pid, function, f"{kind};{function};x")


def test_a_worker_is_known_by_the_more_telling_of_its_functions(tmp_path: Path) -> None:
    inner_first = ["ParallelQueryMain", "ParallelWorkerMain", "BackgroundWorkerMain", "main"]
    sample = "postgres 7 cycles: \n" + "".join(f"\t 1f {name} (/opt/postgres)\n" for name in inner_first) + "\n"
    assert folded(sample, tmp_path)[0] == {
        "parallel worker;main;BackgroundWorkerMain;ParallelWorkerMain;ParallelQueryMain": 1
    }


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ("heap_update.constprop.0 (/opt/bin/postgres)", "heap_update"),
        ("heap_update.part.3.isra.0 (/opt/bin/postgres (deleted))", "heap_update"),
        ("memcpy@@GLIBC_2.14 (/lib64/libc-2.28.so)", "memcpy [libc-2.28.so]"),
        ("zheap_insert (/opt/lib/zheap.so)", "zheap_insert [zheap.so]"),
        ("ns::list<a, b>::operator()(int) const (/opt/a b/x.so)", "ns::list<a, b>::operator()(int) const [x.so]"),
        ("a;b (/opt/lib/x.so)", "a:b [x.so]"),
        ("[unknown] (/opt/bin/postgres)", "[postgres]"),
        ("[unknown] ([unknown])", "[unknown]"),
        ("[unknown] (//anon)", "[generated code]"),
        ("evalexpr_0_0 (/tmp/perf-123.map)", "evalexpr_0_0 [generated code]"),
        ("[unknown] ([kernel.kallsyms])", "[kernel]"),
        ("ext4_map_blocks ([ext4])", "ext4_map_blocks [kernel]"),
        ("xfs_bmapi_read (/lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz)", "xfs_bmapi_read [kernel]"),
    ],
)
def test_a_function_is_named_alike_in_every_build(frame: str, name: str, tmp_path: Path) -> None:
    stacks, _ = folded(f"postgres 2 cycles:u: \n\t    55d0c8a1 {frame}\n\n", tmp_path)
    assert stacks == {f"other process;{name}": 1}


def test_a_command_of_the_server_is_told_by_its_name(tmp_path: Path) -> None:
    stacks, _ = folded("my sh  9 cycles: \n\t 1 main (/usr/bin/dash)\n\n", tmp_path)
    assert stacks == {"command my sh;main [dash]": 1}


def test_a_sample_without_a_single_frame_counts(tmp_path: Path) -> None:
    assert folded("postgres 18431 cycles: \n\n", tmp_path)[0] == {"checkpointer;[unknown]": 1}


def test_lost_samples_are_counted_once_by_whoever_counted_them(tmp_path: Path) -> None:
    text = (DATA / "lost-15.txt").read_text()
    assert folded(text, tmp_path)[1] == 23
    assert folded("LOST_SAMPLES 23\n" + text, tmp_path)[1] == 23
    assert folded("LOST_SAMPLES 9019\n" + text, tmp_path)[1] == 9019


def test_what_is_no_output_of_perf_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        folded("incompatible file format\n", tmp_path)
    assert "not a line of perf script: incompatible" in raised.value.stderr


def reading(window: tuple[float, float] = (100.0, 110.0), offset_s: float = 0.0, **files: str) -> Part:
    texts = {"recorded.txt": RECORDED, "stacks.txt": STACKS} | {f"{name}.txt": text for name, text in files.items()}
    return parse(Reading("primary", texts, {}, window, offset_s))


def test_stacks_become_a_document_and_the_functions_with_most_samples_numbers() -> None:
    part = reading()
    [document] = part.documents
    assert (document.kind, document.node, document.label) == ("stacks", "primary", "cpu-clock:u dwarf")
    assert document.content == {"client backend;main;a;b": 3, "checkpointer;main;c": 1}
    values = {(m.metric, m.label): m.value for m in part.measurements}
    assert values == {
        ("perf.samples", ""): 4,
        ("perf.lost", ""): 0,
        ("perf.seconds", ""): 5.5,
        ("perf.processors", ""): 4 / 5.5 / 99,
        ("perf.share", "b"): 75,
        ("perf.share", "c"): 25,
    }
    assert part.gaps == ()


def test_only_the_first_ten_functions_are_numbers() -> None:
    many = "".join(f"{30 - i} client backend;f{i:02}\n" for i in range(30)) + "lost 0\n"
    labels = [m.label for m in reading(stacks=many).measurements if m.metric == "perf.share"]
    assert labels == [f"f{i:02}" for i in range(10)]


def test_long_names_that_begin_alike_are_told_apart() -> None:
    long = "llvm::" + 300 * "x"
    labels = [m.label for m in reading(stacks=f"2 k;{long}1\n1 k;{long}2\nlost 0\n").measurements if m.label]
    assert len(set(labels)) == 2
    assert {len(label) for label in labels} == {120}


def test_lost_samples_are_a_gap_beside_the_numbers() -> None:
    part = reading(stacks=STACKS.replace("lost 0", "lost 1"))
    assert part.gaps[0].reason == "perf lost 1 of 5 samples (20 %): the machine was busy"
    assert part.documents


def test_samples_from_outside_the_window_are_left_out() -> None:
    for window in ((104.0, 120.0), (102.2, 120.0), (90.0, 106.0)):
        part = reading(window)
        assert (part.documents, part.measurements) == ((), ())
        assert "the samples are left out" in part.gaps[0].reason
    assert reading((4.0, 14.0), offset_s=96.0).documents
    assert reading((102.05, 106.6)).documents


def test_a_recording_without_samples_is_a_gap() -> None:
    part = reading(stacks="lost 0\n")
    assert (part.documents, part.measurements) == ((), ())
    assert "perf took no sample in 5.5 s" in part.gaps[0].reason


def test_without_a_recording_there_is_nothing_to_say() -> None:
    assert parse(Reading("primary", {"perf.log": "x"}, {}, (0, 1))) == Part()


def test_a_slice_that_was_ended_by_the_run_ends_when_perf_was_over() -> None:
    several = "event cycles\ngraph fp\nfrequency 99\nbegan 1\nended 2\nover 2.2\nbegan 11\nover 11.4\n"
    assert read_recorded(several).slices == ((1, 2), (11, 11.4))


def test_a_try_that_failed_is_no_slice() -> None:
    assert read_recorded("event cycles\ngraph none\nfrequency 99\nbegan 1\nbegan 2\nended 3\nover 4\n").slices == (
        (2, 3),
    )
    assert (
        read_recorded("event cycles\ngraph none\nfrequency 99\nbegan 1\nended 3\nover 4\n").label == "cycles no callers"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("recorded", ""),
        ("recorded", "event cycles\nfrequency 99\nbegan 1\nover 2\n"),
        ("recorded", RECORDED.replace("99", "0")),
        ("recorded", RECORDED.replace("102.0", "noon")),
        ("stacks", "3 client backend;a\n"),
        ("stacks", "three client backend;a\nlost 0\n"),
        ("stacks", "3 client backend\nlost 0\n"),
    ],
)
def test_damaged_files_are_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ParseError, match=f"{name}.txt"):
        reading(**{name: text})


def test_perf_watches_the_middle_of_the_window() -> None:
    assert slices(60.0) == {"FIRST_S": "25.000", "SLICE_S": "10.000", "WAIT_S": "9.000", "SLICES": "1"}
    assert slices(4.0) == {"FIRST_S": "1.000", "SLICE_S": "2.000", "WAIT_S": "9.000", "SLICES": "1"}


def test_perf_watches_a_second_of_every_ten_where_the_length_is_not_known() -> None:
    assert slices(None) == {"FIRST_S": "0.500", "SLICE_S": "1.000", "WAIT_S": "9.000", "SLICES": "360"}


@pytest.mark.parametrize(("program", "requested"), [("date", "+over*"), ("ps", "-A")])
def test_the_signal_that_ends_the_job_cuts_nothing_short(program: str, requested: str, tmp_path: Path) -> None:
    """It reaches the whole process group: here just as a program is asked for what must be whole. The perf of this test
    only runs the command that it is given, for perf itself may be forbidden here."""
    shims, data, job = (tmp_path / name for name in ("bin", "data", "job"))
    for folder in (shims, data, job):
        folder.mkdir()
    (data / "postmaster.pid").write_text(f"{os.getpid()}\n")
    scripts = {
        "perf": 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n',
        program: f'case $1 in {requested}) kill -s TERM 0 ;; esac\nexec {shutil.which(program)} "$@"\n',
    }
    for name, script in scripts.items():
        (shims / name).write_text("#!/bin/sh\n" + script)
        (shims / name).chmod(0o755)
    env = {"PATH": f"{shims}:{os.environ['PATH']}", "DATA_DIR": str(data), "EVENT": "cpu-clock:u", "GRAPH": "none"}
    env |= {"FREQUENCY": "99", "LIMIT_KB": "1000", "FIRST_S": "0", "SLICE_S": "0.1", "WAIT_S": "0.1", "SLICES": "9"}
    done = subprocess.run(
        ["sh", PERF / "record.sh"], cwd=job, env=env, capture_output=True, text=True, check=True, start_new_session=True
    )
    recorded = f"event x\ngraph none\nfrequency 99\n{done.stdout}"
    assert len(read_recorded(recorded).slices) == 1
    assert f"{os.getpid()} postmaster" in (job / "processes").read_text().splitlines()
