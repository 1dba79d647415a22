"""The protocol of a profile and what each step printed → measurements, plans and gaps. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError, damaged
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Document, Event, Gap, Measurement, Part
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import with_texts
from workers.pgbench.report import Report, read_report

from .outcome import Outcome
from .scans import Scan, break_even, scan_of
from .steps import COLUMNS, Kind

SOURCE = "access_method"
_TIME = re.compile(r"^Time: (\d+\.\d+) ms", re.MULTILINE)
_TPCB = (("tpcb.tps", "tps"), ("tpcb.latency", "latency.mean"), ("tpcb.transactions", "transactions"))
_GROWTH = (
    ("foo", "sizes loaded", "sizes updated"),
    ("grown", "sizes before growth", "sizes after growth"),
)
_FILLED = {"wide": "sizes loaded", "wide_heap": "sizes loaded", "pgbench_accounts": "sizes before TPC-B"}


@dataclass(frozen=True)
class Entry:
    """One step of the protocol.

    folder: of its output.
    why: it did not end well, in the server's words.
    times: its transactions.
    values: (metric, label, statement).
    started_s: epoch seconds.
    """

    step: str
    kind: Kind
    folder: str
    stdout: str
    outcome: Outcome
    why: str
    times: int
    values: Sequence[Sequence[str]]
    started_s: float | None = None

    @property
    def file(self) -> str:
        return f"{self.folder}/stdout"


@dataclass
class _Results:
    """The results of the steps read so far."""

    measurements: list[Measurement] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    scans: dict[str, list[Scan]] = field(default_factory=dict)
    sizes: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, metric: str, value: float, label: str = "") -> None:
        self.measurements.append(Measurement(metric, value, label=label))


def parse(reading: Reading) -> Part:
    """Read steps.json and the output of each step. Raises ParseError for damaged files."""
    entries = read_protocol(reading.files)
    broken = next((entry for entry in entries if entry.outcome is Outcome.FAILED), None)
    results = _Results()
    for entry in entries:
        if entry.outcome is Outcome.DONE:
            with damaged(_("not the output of this step"), entry.file, entry.stdout):
                _READ[entry.kind](entry, results)
        elif entry is not broken:
            reason = _("{step}: {why}", step=entry.step, why=entry.why)
            results.gaps.append(Gap(SOURCE, "primary", reason))
    with damaged(_("not the outputs of these steps"), "steps.json"):
        _after_all(results, complete=broken is None)
        other = _other_access_methods(results.sizes)
    failure: str = other
    if broken:
        failure = _("The step '{step}' broke off. {why}", step=broken.step, why=broken.why)
    return Part(
        measurements=tuple(results.measurements),
        documents=tuple(results.documents),
        gaps=tuple(results.gaps),
        events=tuple(_events(entries, reading)),
        failure=failure,
    )


def read_protocol(files: Mapping[str, str]) -> list[Entry]:
    """Read steps.json with each step's output. Raises ParseError."""
    text = files.get("steps.json", "")
    try:
        items = json_text.loads(text)
        if not isinstance(items, list) or not items:
            raise ValueError("no list of steps")
        return [_entry(number, item, files) for number, item in enumerate(items)]
    except (ValueError, LookupError, TypeError) as error:
        raise ParseError(
            _("not a protocol of steps: {error}", error=repr(error)), file="steps.json", text=text
        ) from None


def _entry(number: int, item: Mapping[str, Any], files: Mapping[str, str]) -> Entry:
    return Entry(
        step=item["step"],
        kind=Kind(item["kind"]),
        folder=f"{number:03d}",
        stdout=files.get(f"{number:03d}/stdout", ""),
        outcome=Outcome(item["outcome"]),
        why=with_texts(item, ("why",))["why"],
        times=int(item["times"]),
        values=item["values"],
        started_s=item.get("started_s"),
    )


def _timed(entry: Entry, results: _Results) -> None:
    """psql's \\timing, one line for each statement."""
    times_ms = _TIME.findall(entry.stdout)
    if len(times_ms) != len(entry.values):
        what = _("{times} times of {statements} statements", times=len(times_ms), statements=len(entry.values))
        raise ParseError(what, file=entry.file, text=entry.stdout)
    for (metric, label, _statement), milliseconds in zip(entry.values, times_ms, strict=True):
        results.add(metric, float(milliseconds) / 1000, label)


def _plan(entry: Entry, results: _Results) -> None:
    results.documents.append(Document("plan", entry.step, _json(entry)[0]))


def _scan(entry: Entry, results: _Results) -> None:
    [(metric, column, _statement)] = entry.values
    scan, plan = scan_of(column, entry.stdout, entry.file)
    kind = str(plan["Plan"]["Node Type"])
    if kind != "Seq Scan":
        reason = _("{step}: the server chose {node}, not a sequential scan", step=entry.step, node=kind)
        results.gaps.append(Gap(SOURCE, "primary", reason))
        return
    earlier = results.scans.setdefault(metric, [])
    if not any(other.column == column for other in earlier):
        results.documents.append(Document("plan", entry.step, plan))
    earlier.append(scan)


def _latency(entry: Entry, results: _Results) -> None:
    """pgbench -r: the mean time of each statement, as its client saw it."""
    report = _report(entry)
    for metric, label, word in entry.values:
        line = next((line for line in report.total.statements if line.text.startswith(word)), None)
        if line is None or line.latency_us is None:
            raise ParseError(_("no latency of {statement}", statement=word), file=entry.file, text=entry.stdout)
        results.add(metric, line.latency_us, label)


def _report(entry: Entry) -> Report:
    report = read_report(entry.stdout, entry.file)
    counted = report.total.values.get(("transactions", ""), 0.0)
    if counted != entry.times if entry.times else counted <= 0:
        expected = entry.times or _("some")
        what = _("{counted:.0f} transactions, not {expected}", counted=counted, expected=expected)
        raise ParseError(what, file=entry.file, text=entry.stdout)
    return report


def _tpcb(entry: Entry, results: _Results) -> None:
    report = _report(entry)
    for metric, name in _TPCB:
        results.add(metric, report.total.values[name, ""])
    for line in report.total.statements:
        if line.latency_us is not None and not line.text.startswith("\\"):
            results.add("tpcb.statement", line.latency_us, f"{line.number} {line.text}"[:120])


def _sizes(entry: Entry, results: _Results) -> None:
    results.sizes[entry.step] = _json(entry)


def _statistics(entry: Entry, results: _Results) -> None:
    [(_, table, _)] = entry.values
    counted = _json(entry)
    results.add("dead_tuples", float(counted["n_dead_tup"]), table)
    results.add("updates.hot", float(counted["n_tup_hot_upd"]), table)


def _contents(entry: Entry, results: _Results) -> None:
    [(_, table, _)] = entry.values
    contents = _json(entry)
    results.add("dead_tuples.found", float(contents["dead_tuple_count"]), table)
    results.add("free_space", float(contents["free_space"]), table)


def _skip(entry: Entry, results: _Results) -> None:
    """Add nothing: the step prepares others."""


_READ = {
    Kind.TIMED: _timed,
    Kind.PLAN: _plan,
    Kind.SCAN: _scan,
    Kind.LATENCY: _latency,
    Kind.SIZES: _sizes,
    Kind.STATISTICS: _statistics,
    Kind.CONTENTS: _contents,
    Kind.FILL: _skip,
    Kind.TPCB: _tpcb,
    Kind.QUIET: _skip,
}


def _json(entry: Entry) -> Any:
    try:
        return json_text.loads(entry.stdout)
    except ValueError as error:
        raise ParseError(_("not JSON: {error}", error=str(error)), file=entry.file, text=entry.stdout) from None


def _after_all(results: _Results, *, complete: bool) -> None:
    """Add what follows from several steps together."""
    inserted = [
        m.value for m in results.measurements if m.metric == "bulk_insert.seconds" and m.label.startswith("foo")
    ]
    if inserted:
        results.add("bulk_insert.seconds", sum(inserted))
    for metric, scans in results.scans.items():
        for column in COLUMNS:
            _add_scans(results, metric, column, [scan for scan in scans if scan.column == column])
    if complete:
        _add_break_even(results)
    _add_sizes(results)
    for table, first, last in _GROWTH:
        _add_growth(results, table, _sizes_of(results, first, table), _sizes_of(results, last, table))
    _add_tpcb_growth(results)


def _add_scans(results: _Results, metric: str, column: str, scans: Sequence[Scan]) -> None:
    """The means of the scans of one column, where it was scanned."""
    if scans:
        results.add(f"{metric}.seconds", fmean(scan.seconds for scan in scans), column)
        results.add(f"{metric}.blocks", fmean(scan.blocks for scan in scans), column)
        results.add(f"{metric}.blocks.read", fmean(scan.read for scan in scans), column)


def _add_break_even(results: _Results) -> None:
    scans, of_heap = results.scans.get("scan"), results.scans.get("scan.heap")
    if scans and of_heap:
        try:
            results.add("scan.break_even", break_even(scans, of_heap))
        except ValueError as error:
            reason = _("break-even with the heap: {reason}", reason=error.args[0])
            results.gaps.append(Gap(SOURCE, "primary", reason))


def _add_sizes(results: _Results) -> None:
    first_steps = {table: first for table, first, _ in _GROWTH}
    for table, step in {**first_steps, **_FILLED}.items():
        for part, size in _sizes_of(results, step, table).items():
            results.add(f"size.{part}", size, table)


def _add_growth(results: _Results, table: str, before: Mapping[str, float], after: Mapping[str, float]) -> None:
    """Add a table's growth.

    before, after: part → bytes; empty where the sizes were not taken."""
    if not after:
        return
    for part, size in before.items():
        label = table if part == "table" else f"{table}: {part}"
        results.add("growth.bytes", after[part] - size, label)
        if size:
            results.add("growth.percent", 100 * (after[part] - size) / size, label)


def _add_tpcb_growth(results: _Results) -> None:
    transactions = next((m.value for m in results.measurements if m.metric == "tpcb.transactions"), 0.0)
    before, after = (_sizes_of(results, f"sizes {when} TPC-B", "pgbench_accounts") for when in ("before", "after"))
    if transactions and before and after:
        results.add("tpcb.growth", (after["table"] - before["table"]) / transactions)


def _sizes_of(results: _Results, step: str, table: str) -> dict[str, float]:
    """Return part → bytes of one table after a step; empty where its size was not taken."""
    sizes = results.sizes.get(step, {}).get(table, {})
    return {part: float(sizes[part]) for part in ("table", "indexes", "total") if part in sizes}


def _other_access_methods(sizes: Mapping[str, Mapping[str, Any]]) -> str:
    """Describe tables that are not stored as foo is, by the last sizes; '' where there are none."""
    if not sizes:
        return ""
    last = list(sizes.values())[-1]
    expected = last["foo"]["access_method"]
    different = [
        f"{table}: {entry['access_method']}"
        for table, entry in sorted(last.items())
        if entry["access_method"] != ("heap" if table == "wide_heap" else expected)
    ]
    if not different:
        return ""
    return _("Tables are not stored by {expected}: {others}.", expected=expected, others=linked(COMMA, different))


def _events(entries: Sequence[Entry], reading: Reading) -> Iterator[Event]:
    """Where each step began."""
    for entry in entries:
        if entry.started_s is not None:
            at_s = entry.started_s - reading.clock_offset_s - reading.window[0]
            yield Event(at_s, "client", "step", entry.step)
