"""Recorded files of trials, each with the parser that reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results.domain.kinds.parameters import Scalar
from results.domain.kinds.specs import Parse, Reading
from tests import factories
from tests.workers.collectors import test_perf as perf
from tests.workers.workloads import test_pgbench_parse as manuals
from tests.workers.workloads import test_ssb_parse as ssb
from tests.workers.workloads import test_tpcc_parse as tpcc
from workers import registry

_DATA = factories.DATA


@dataclass(frozen=True)
class Case:
    """A trial's files as one workload or collector reads them, and the one of them that is changed.

    kind: of `workers/workloads` or `workers/collectors`
    """

    kind: str
    reading: Reading
    file: str
    name: str

    @property
    def text(self) -> str:
        return self.reading.files[self.file]

    @property
    def parse(self) -> Parse:
        if self.kind in registry.kinds().workloads:
            return registry.workload_parser(self.kind)
        return registry.collector_parser(self.kind)


def _cases(kind: str, reading: Reading, name: str = "") -> Iterator[Case]:
    for file, text in reading.files.items():
        if text:
            yield Case(kind, reading, file, f"{kind}-{name or 'recorded'}-{file}")


def _reading(node: str, files: Mapping[str, str], window: tuple[float, float], **parameters: Scalar) -> Reading:
    return Reading(node, files, parameters, window)


def _files(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def _in_window(folder: Path, files: dict[str, str] | None = None) -> tuple[dict[str, str], tuple[float, float]]:
    start_s, end_s = json.loads((folder / "window.json").read_text())
    files = _files(folder) if files is None else files
    return {name: text for name, text in files.items() if name != "window.json"}, (start_s, end_s)


def pgbench_reports() -> dict[str, str]:
    """Reports of a finished pgbench by version and options, 9.5 to 18."""
    reports = {"9.5": manuals.MANUAL_9_5, "10": manuals.MANUAL_10, "14": manuals.MANUAL_14}
    for folder in sorted((_DATA / "pgbench").iterdir()):
        for name in (
            "tpcb-progress-per-statement",
            "two-scripts",
            "rate-and-latency-limit",
            "reconnect",
            "retries",
            "continued-set",
        ):
            path = folder / f"{name}.stdout"
            if path.exists():
                reports[f"{folder.name}-{name}"] = path.read_text()
    return reports


def pgbench_reading(stdout: str, stderr: str = "", name: str = "") -> Reading:
    parameters: dict[str, Scalar] = dict(registry.kinds().workloads["pgbench"].complete({}))
    if "two-scripts" in name:
        parameters["script"] = "select-only@9, simple-update@1"
    if "reconnect" in name:
        parameters["connect"] = True
    return Reading("client", {"stdout": stdout, "stderr": stderr, "exit": "0\n"}, parameters, (0.0, 3.0))


def _pgbench() -> Iterator[Case]:
    for name, report in pgbench_reports().items():
        yield Case("pgbench", pgbench_reading(report, name=name), "stdout", f"pgbench-{name}-stdout")
    for version in ("12beta1", "18"):
        stderr = (_DATA / "pgbench" / version / "tpcb-progress-per-statement.stderr").read_text()
        reading = pgbench_reading(pgbench_reports()["14"], stderr)
        yield Case("pgbench", reading, "stderr", f"pgbench-{version}-stderr")


def _collectors() -> Iterator[Case]:
    yield from _cases("latency_log", _reading("client", *_in_window(_DATA / "latency_log" / "18")))
    yield from _cases("sar", _reading("primary", *_in_window(_DATA / "sar" / "12.6.1")))
    yield from _cases("sar", _reading("primary", {"sadf.json": _sadf_11()}, (1795228000.0, 1795228002.0)), "11")
    for version in ("15", "18"):
        yield from _cases("pg_stat", _reading("primary", *_in_window(_DATA / "pg_stat" / version)), version)
    late = _DATA / "replication" / "late-18"
    for node in ("primary", "standby1"):
        yield from _cases("replication", _reading(node, *_in_window(late, _files(late / node))), node)
    yield from _cases("pgpool", _reading("pooler", _files(_DATA / "pgpool" / "4.3.5"), (0.0, 2.0)))
    stacks = {"recorded.txt": perf.RECORDED, "stacks.txt": perf.STACKS}
    yield from _cases("perf", _reading("primary", stacks, (100.0, 110.0)))
    counts = {"counts.csv": (_DATA / "perf_stat" / "hardware-6.1.csv").read_text(), "ended": "103.0\n"}
    yield from _cases("perf_stat", _reading("primary", counts, (100.5, 102.5)))


def _sadf_11() -> str:
    """As sysstat 11 writes it: sectors, other names of columns, 'interrupts' by value."""
    entry: dict[str, Any] = {
        "timestamp": {"date": "2026-11-21", "time": "02:26:41", "utc": 1, "interval": 1},
        "cpu-load": [{"cpu": "all", "user": 1.5, "nice": 0.0, "system": 2.5, "iowait": 0.5, "steal": 0, "idle": 95.5}],
        "process-and-context-switch": {"proc": 3.0, "cswch": 1234.5},
        "interrupts": [{"intr": "sum", "value": 5.0}],
        "disk": [{"disk-device": "sda", "tps": 1.0, "rd_sec": 8.0, "wr_sec": 16.0, "util-percent": 3.5}],
        "memory": {"memfree": 10, "memused": 20, "cached": 30, "dirty": 4},
        "network": {"net-dev": [{"iface": "eth0", "rxkB": 1.5, "txkB": 2.5}]},
        "queue": {"runq-sz": 1, "ldavg-1": 0.25},
    }
    return json.dumps({"sysstat": {"hosts": [{"nodename": "db1", "statistics": [entry, entry]}]}}, indent=1)


def _workloads() -> Iterator[Case]:
    yield from _cases("ssb", ssb.two_clients())
    for version in ("12", "17"):
        files = {"clients/1.stdout": (_DATA / "ssb" / f"{version}.stdout").read_text(), "clients/1.exit": "0\n"}
        yield from _cases("ssb", ssb.reading(files, clients=1, passes=1, queries="q1.1, q2.1"), version)
    counts = {"before": tpcc.BEFORE, "after": {"orders": 1045, "rolled_back": 8, "deliveries_skipped": 7}}
    files = {"stdout": tpcc.report(tpcc.FINISHED, 1000), "stderr": "", "exit": "0\n", "conditions": tpcc.HOLD}
    files["counts.json"] = json.dumps(counts)
    notes = {"load": [{"phase": "item", "seconds": 1.5, "rows": 100}]}
    yield from _cases("tpcc", Reading("client", files, {}, (0.0, 2.0), notes=notes))
    protocol: dict[str, str] = json.loads((_DATA / "access_method" / "15-heap2.json").read_text())
    started_s = json.loads(protocol["steps.json"])[0]["started_s"]
    steps = list(_cases("access_method", _reading("client", protocol, (started_s, started_s + 9.0))))
    yield from (case for number, case in enumerate(steps) if number % 4 == 0 or case.file == "steps.json")
    for case in ("by-parts", "by-tables"):
        files = _files(_DATA / "bulk_load" / "15" / case)
        yield from _cases("bulk_load", _reading("client", files, (0.0, 3.0), size_mb=1), case)
    yield from _cases("ledger", _reading("client", *_in_window(_DATA / "ledger" / "16")))
    yield from _cases("capabilities", _reading("client", _files(_DATA / "capabilities" / "first-answers"), (0.0, 3.0)))
    yield from _script()


def _script() -> Iterator[Case]:
    defaults = registry.kinds().workloads["script"].complete({"form": "command"})
    outputs = {
        "lines": "throughput 12345.6 rows/s higher\nwait{lock} 1.5 ms lower\n# done\n",
        "json": '{"throughput": 12345.6, "wait": {"value": 1.5, "unit": "ms", "better": "lower"}}',
    }
    for name, stdout in outputs.items():
        reading = Reading("client", {"stdout": stdout, "stderr": "", "exit": "0\n"}, defaults, (0.0, 3.0))
        yield from _cases("script", reading, name)
    report = pgbench_reports()["14"]
    append = registry.kinds().workloads["append"].complete({})
    files = {"stdout": report, "stderr": "", "exit": "0", "rows.json": '{"before": 50, "after": 2050}'}
    yield Case("append", Reading("client", files, append, (0.0, 2.0)), "rows.json", "append-rows.json")
    scaleup = registry.kinds().workloads["read_scaleup"].complete({})
    files = {"stdout": report, "stderr": "", "exit": "0", "plan.json": '[{"Plan": {"Node Type": "Result"}}]'}
    yield Case("read_scaleup", Reading("client", files, scaleup, (0.0, 2.0)), "plan.json", "read_scaleup-plan.json")


CASES: tuple[Case, ...] = (*_pgbench(), *_collectors(), *_workloads())
