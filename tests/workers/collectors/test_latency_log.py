"""The transaction log, folded by the agent's awk and read back."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.histogram import Histogram, bucket_of
from results.domain.measurement.parsed_trial import Part
from workers.collectors import latency_log
from workers.collectors.latency_log.parse import parse

FOLDER = Path(latency_log.__file__).parent
DATA = Path(__file__).parents[2] / "data"
RECORDED = [("", 10212), ("select-only", 5124), ("tpcb-like", 5088)]
AWKS = [name for name in ("mawk", "gawk", "original-awk", "busybox") if shutil.which(name)] or ["awk"]


def fold(log: str, awk: str = "awk", origin: float = 0.0) -> str:
    argv = [awk, *(["awk"] if awk == "busybox" else []), "-v", f"origin={origin:.6f}", "-f"]
    done = subprocess.run([*argv, str(FOLDER / "fold.awk")], input=log, capture_output=True, text=True, check=True)
    return done.stdout


def parsed(text: str, start_s: float = 0.0, offset_s: float = 0.0) -> Part:
    return parse(Reading("client", {"folded.txt": text}, {}, (start_s, start_s + 5), offset_s))


def row(latency: object, at: float, script: int = 0, rest: str = "") -> str:
    return f"0 1 {latency} {script} {int(at)} {round(at % 1 * 1e6)}{rest}\n"


@pytest.mark.parametrize("awk", AWKS)
def test_every_transaction_is_counted_exactly(awk: str) -> None:
    chance = random.Random(7)
    latencies = [int(chance.expovariate(1 / 800)) for _ in range(5000)] + [0, 1, 2, 3_000_000_000]
    log = "".join(row(latency, 100.25 + n / 2000) for n, latency in enumerate(latencies))
    counted = parsed("origin 100.25\n" + fold(log, awk, 100.25), 100.25).latencies
    assert len(counted) == 1
    assert counted[0].histogram == Histogram.from_counts(Counter(latencies))
    cells = Counter((n // 2000, bucket_of(latency)) for n, latency in enumerate(latencies))
    heat = counted[0].heat
    assert dict(zip(zip(heat.seconds, heat.buckets, strict=True), heat.counts, strict=True)) == cells


@pytest.mark.parametrize("awk", AWKS)
def test_buckets_are_those_of_the_warehouse_at_every_boundary(awk: str) -> None:
    edges = [2 ** (bucket / 4) for bucket in range(121)]  # to 18 minutes
    latencies = sorted({int(edge) + step for edge in edges for step in (-1, 0, 1)} - {-1})
    folded = fold("".join(row(latency, 1.0) for latency in latencies), awk)
    heat = parsed(folded).latencies[0].heat
    assert Counter(dict(zip(heat.buckets, heat.counts, strict=True))) == Counter(map(bucket_of, latencies))


@pytest.mark.parametrize("awk", AWKS)
def test_skipped_and_failed_transactions_have_no_latency(awk: str) -> None:
    log = row(40, 1.0) + row("skipped", 1.1) + row("failed", 1.2) + row("serialization", 1.3, 1, " 0 9")
    folded = fold(log, awk)
    assert sorted(line for line in folded.splitlines() if line.startswith("other")) == [
        "other 0 failed 1",
        "other 0 skipped 1",
        "other 1 serialization 1",
    ]
    assert parsed(folded).latencies[0].histogram.total == 1


@pytest.mark.parametrize("version", ["12beta1", "15", "16", "18"])
@pytest.mark.parametrize("kind", ["plain", "rate", "two", "retry"])
def test_logs_of_every_version_are_folded(version: str, kind: str) -> None:
    path = DATA / "pgbench" / version / f"log-{kind}.txt"
    if not path.exists():
        pytest.skip("12 has no retries")
    rows = [line.split() for line in path.read_text().splitlines()]
    part = parsed(fold(path.read_text()))
    assert part.latencies[0].histogram.total == sum(fields[2].isdigit() for fields in rows)
    assert part.gaps == ()


def test_scripts_are_kept_apart_and_together() -> None:
    log = row(10, 1.0) + row(20, 1.5, 1) + row(30, 2.5, 1)
    text = "origin 1.0\nscript 0 select-only\nscript 1 tpcb-like\n" + fold(log, origin=1.0)
    part = parsed(text, 1.0)
    assert {one.label: one.histogram.latencies_us for one in part.latencies} == {
        "": (10, 20, 30),
        "select-only": (10,),
        "tpcb-like": (20, 30),
    }
    maxima = {m.label: m.value for m in part.measurements if m.metric == "latency.max"}
    assert maxima == {"": 30, "select-only": 10, "tpcb-like": 30}


def test_scripts_without_names_are_numbered() -> None:
    part = parsed(fold(row(10, 1.0) + row(20, 1.5, 1)))
    assert [one.label for one in part.latencies] == ["", "script 0", "script 1"]


def test_a_single_script_has_the_total_only() -> None:
    assert [one.label for one in parsed("script 0 tpcb-like\n" + fold(row(10, 1.0))).latencies] == [""]


def test_seconds_count_from_the_window_on_the_agents_own_clock() -> None:
    text = "origin 1100.500000\n" + fold(row(10, 1100.6) + row(10, 1101.6), origin=1100.5)
    assert parsed(text, start_s=1000.5, offset_s=100.0).latencies[0].heat.seconds == (0, 1)


def test_a_log_folded_without_a_window_is_moved_to_it() -> None:
    text = "origin 0.000000\n" + fold(row(10, 1100.6) + row(10, 1101.6))
    assert parsed(text, start_s=1000.0, offset_s=100.0).latencies[0].heat.seconds == (0, 1)


def test_percentiles_are_latencies_that_happened() -> None:
    part = parsed("".join(f"latency 0 {latency} 1\n" for latency in range(1, 1001)))
    values = {m.metric: m.value for m in part.measurements}
    assert values == {
        "latency.p50": 500,
        "latency.p90": 900,
        "latency.p95": 950,
        "latency.p99": 990,
        "latency.p99.9": 999,
        "latency.max": 1000,
    }


def test_a_recorded_log_is_read() -> None:
    folder = DATA / "latency_log" / "18"
    start_s, end_s = json.loads((folder / "window.json").read_text())
    part = parse(Reading("client", {"folded.txt": (folder / "folded.txt").read_text()}, {}, (start_s, end_s)))
    assert [(one.label, one.histogram.total) for one in part.latencies] == RECORDED
    assert set(part.latencies[0].heat.seconds) <= set(range(int(end_s - start_s) + 1))


def test_lines_that_are_no_transactions_are_a_gap() -> None:
    part = parsed(fold("0 1 40\n" + row(40, 1.0)))
    assert part.latencies[0].histogram.total == 1
    assert "1 lines" in part.gaps[0].reason


def test_without_a_log_there_is_nothing() -> None:
    assert parse(Reading("client", {}, {}, (0.0, 1.0))) == Part()


@pytest.mark.parametrize("line", ["heat 0 1 x 4", "latency 0 1", "nonsense", "heat 0 1 2 3 4"])
def test_a_damaged_line_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        parsed(f"origin 1.0\n{line}\n")
    assert caught.value.where == "folded.txt:2"


def test_logs_of_all_threads_are_folded(tmp_path: Path) -> None:
    logs = tmp_path / "logs with a space"
    logs.mkdir()
    for name in ("pgbench_log.77", "pgbench_log.77.1", "pgbench_log.77.2"):
        (logs / name).write_text(row(40, 1.0) + row(50, 2.0))
    done = _fold_all(logs)
    assert done.returncode == 0, done.stderr
    assert parsed(done.stdout).latencies[0].histogram == Histogram((40, 50), (3, 3))
    assert done.stdout.startswith("origin 0\n")


def test_a_directory_without_logs_is_told_from_a_failure(tmp_path: Path) -> None:
    assert _fold_all(tmp_path).returncode == 3
    assert _fold_all(tmp_path / "missing").returncode == 1


def _fold_all(directory: Path) -> subprocess.CompletedProcess[str]:
    arguments = [str(directory), "0.0", (FOLDER / "fold.awk").read_text(), "origin 0"]
    return subprocess.run(
        ["sh", "-s", "--", *arguments],
        input=(FOLDER / "fold.sh").read_text(),
        capture_output=True,
        text=True,
        check=False,
    )
