"""JdbcRunner's console output, with its result files log_…_t.csv and log_…_r.csv where they are, → trials. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from results.domain.errors import ImportedFileError
from results.domain.imports.values import Format, ImportedTrial, Scalar, TextFile
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.measurement.series import Series
from results.domain.messages import SEMICOLON, linked
from results.domain.messages import gettext_lazy as _
from workers.imports.shared import KNOWN, MS, cut, files_of, several_runs

_THROUGHPUTS, _TIMES = "Elapsed time[sec],", "Response time[msec],"  # how the two result files begin
_HELP = _("From JdbcRunner, cut to whole milliseconds: 0 is less than one. Label: one kind of transaction.")
_WORDS = {
    "minimum": ("min", _("Smallest latency (JdbcRunner)")),
    "50%tile": ("p50", _("p50 latency (JdbcRunner)")),
    "90%tile": ("p90", _("p90 latency (JdbcRunner)")),
    "95%tile": ("p95", _("p95 latency (JdbcRunner)")),
    "99%tile": ("p99", _("p99 latency (JdbcRunner)")),
    "maximum": ("max", _("Largest latency (JdbcRunner)")),
}
_LATENCIES = {
    words: Metric(
        f"jdbcrunner.latency.{name}",
        "us",
        Better.LOWER,
        label,
        _HELP,
        0.05,
        label_noun=_("transaction"),
    )
    for words, (name, label) in _WORDS.items()
}
_MEAN = Metric(
    "jdbcrunner.latency.mean",
    "us",
    Better.LOWER,
    _("Mean latency (JdbcRunner)"),
    _("From the counts in JdbcRunner's file _r.csv, each cut to whole milliseconds. Label: one kind of transaction."),
    label_noun=_("transaction"),
)
_LINE = re.compile(r"\[(?:(?P<count>Total tx count)|Response time \((?P<which>[^)]+)\))\] (?P<values>\S*)")
_COUNT, _TIME = "[0-9]{1,15}", r"[0-9]{1,15}(?:\.[0-9]{1,15})?"
_CONFIG = {"Number of agents": "clients", "Measurement time": "duration_s"}


def recognises(text: str) -> bool:
    return ("JdbcRunner" in text and "[Config]" in text) or _is_result(text)


def _is_result(text: str) -> bool:
    return text.startswith((_THROUGHPUTS, _TIMES))


def read(files: Sequence[TextFile]) -> list[ImportedTrial]:
    """Return a trial of each console output. A result file belongs to the output that has its time of start, or whose
    name without its ending is how the file's name begins, the longest of several; with a single output all are its.
    Raises ImportedFileError."""
    results = [file for file in files if _is_result(file.text)]
    outputs = [file for file in files if file not in results]
    if not outputs:
        raise ImportedFileError(
            _("There is a result file, but not what JdbcRunner printed."),
            where=results[0].name,
            why=_("It does not say how many agents there were, nor whether the run came to its end."),
            todo=_("Add the console output, or jdbcrunner.log of one run."),
        )
    of_output = files_of(
        {output.name: _beginnings(output) for output in outputs},
        results,
        todo=_("Keep the name that JdbcRunner gave it, log_START_t.csv, or name it after its output."),
    )
    return [_trial(output, of_output[output.name]) for output in outputs]


def _beginnings(output: TextFile) -> list[str]:
    start = re.search(r"^Program start time +: (\S+)$", output.text, re.MULTILINE)
    return [f"{PurePath(output.name).stem}_", *([f"log_{start[1]}_"] if start else [])]


def _trial(output: TextFile, results: Sequence[TextFile]) -> ImportedTrial:
    _require_success(output)
    values = _values(output)
    facts = _facts(output.text)
    if "Total tx count" not in values or not facts.get("duration_s"):
        raise cut(output.name, _("There is no line [Total tx count] or no Measurement time."))
    counts = [int(count) for count in values["Total tx count"]]
    if not sum(counts):
        raise cut(output.name, _("No transaction came to its end."))
    labels = _labels(output.text, len(counts))
    measured = [*_throughput(counts, labels, float(facts["duration_s"])), *_latencies(values, labels)]
    part = Part(
        tuple(Measurement(metric.name, value, label=label) for metric, label, value in measured),
        metrics=tuple({metric.name: metric for metric, _label, _value in measured}.values()),
    )
    for file in results:
        if file.text.startswith(_THROUGHPUTS):
            part = _with_rates(part, file, output.name, labels, counts, facts)
        else:
            part = _with_mean(part, file, labels, counts)
    names = (output.name, *(file.name for file in results))
    return ImportedTrial(output.name, names, facts, part, workload=_workload(output.text))


def _values(output: TextFile) -> dict[str, list[str]]:
    """Return what the lines of the result say, a value for each kind of transaction: 'Total tx count' and 'p50' or the
    like. Raises ImportedFileError for a line that says anything else."""
    values: dict[str, list[str]] = {}
    for match in _LINE.finditer(output.text):
        texts = match["values"].split(",")
        one = _COUNT if match["count"] else _TIME
        kinds = len(values.get("Total tx count", texts))
        if len(texts) != kinds or not all(re.fullmatch(one, text) for text in texts):
            raise ImportedFileError(
                _("This is not as JdbcRunner prints it."),
                where=f"{output.name}:{output.text.count(chr(10), 0, match.start()) + 1}",
                why=repr(match[0][:200]),
                todo=_("Import the output unchanged."),
            )
        values[match["count"] or match["which"]] = texts
    return values


def _require_success(output: TextFile) -> None:
    if output.text.count("> JdbcRunner ") > 1:
        raise several_runs(output.name, _("'> JdbcRunner' is there several times."))
    if "< JdbcRunner SUCCESS" not in output.text:
        error = re.search(r"^.*\[ERROR\] .+$", output.text, re.MULTILINE)
        raise cut(output.name, error[0] if error else "")


def _workload(text: str) -> str:
    script = re.search(r"^Script filename +: (?:.*[/\\])?(\S+)\.js$", text, re.MULTILINE)
    return f"JdbcRunner {script[1]}"[:63] if script else "JdbcRunner"


def _labels(text: str, count: int) -> list[str]:
    """Return what each kind of transaction is called; '' where there is one kind."""
    if count == 1:
        return [""]
    named = dict(re.findall(r"\] tx([0-9]+) : (.+?)(?: transaction)?$", text, re.MULTILINE))
    return [named.get(str(index), f"tx{index}") for index in range(count)]


def _throughput(counts: Sequence[int], labels: Sequence[str], duration_s: float) -> Iterator[tuple[Metric, str, float]]:
    """The totals of several kinds are the sum of their counts, over the measurement time."""
    yield KNOWN["tps"], "", sum(counts) / duration_s
    yield KNOWN["transactions"], "", float(sum(counts))
    if len(counts) > 1:
        for label, count in zip(labels, counts, strict=True):
            yield KNOWN["tps"], label, count / duration_s
            yield KNOWN["transactions"], label, float(count)


def _latencies(values: dict[str, list[str]], labels: Sequence[str]) -> Iterator[tuple[Metric, str, float]]:
    for words, metric in _LATENCIES.items():
        if words in values:
            for label, value in zip(labels, values[words], strict=True):
                yield metric, label, float(value) * MS


def _rows(file: TextFile, columns: int) -> list[list[float]]:
    rows = []
    for number, line in enumerate(file.text.splitlines()[1:], 2):
        cells = line.split(",")
        if len(cells) != columns + 1 or not all(re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", cell) for cell in cells):
            raise ImportedFileError(
                _("This is no row of JdbcRunner's result file."),
                where=f"{file.name}:{number}",
                why=repr(line[:200]),
                todo=_("Import the file unchanged, beside the output of the same run."),
            )
        rows.append([float(cell) for cell in cells])
    return rows


def _with_rates(
    part: Part,
    file: TextFile,
    output: str,
    labels: Sequence[str],
    counts: Sequence[int],
    facts: Mapping[str, Scalar],
) -> Part:
    """Add the rates over time. Raises ImportedFileError where they are not those of the output: a row a second of
    measurement, and as many transactions, but for the one of each agent that the end interrupts."""
    rows = _rows(file, len(labels))
    differences: list[str] = []
    if len(rows) != facts["duration_s"]:
        differences.append(
            _("{rows} seconds in the file, {seconds} in the output", rows=len(rows), seconds=facts["duration_s"])
        )
    for index, (label, count) in enumerate(zip(labels, counts, strict=True), 1):
        total = sum(row[index] for row in rows)
        if abs(total - count) > float(facts.get("clients", 0)):
            differences.append(_other_count(label, total, count))
    if differences:
        raise ImportedFileError(
            _("The result file is not of the run that the output is of."),
            where=f"{file.name}, {output}",
            why=_(
                "There are {differences}.",
                differences=linked(SEMICOLON, differences),
            ),
            todo=_("Add the result file of the same run."),
        )
    times = tuple(row[0] for row in rows)
    series = [
        Series("tps", "client", "tps", times[0], 0.0, tuple(row[index] for row in rows), label, times_s=times)
        for index, label in enumerate(labels, 1)
        if rows
    ]
    return replace(part, series=(*part.series, *series))


def _with_mean(part: Part, file: TextFile, labels: Sequence[str], counts: Sequence[int]) -> Part:
    """Add mean latencies. Raises ImportedFileError where the counts are not those of the output."""
    rows = _rows(file, len(labels))
    means = []
    for index, (label, count) in enumerate(zip(labels, counts, strict=True), 1):
        total = sum(row[index] for row in rows)
        if total != count:
            raise ImportedFileError(
                _other_total(label, total, count),
                where=file.name,
                todo=_("Add the result file of the same run."),
            )
        if total:
            means.append(Measurement(_MEAN.name, MS * sum(row[0] * row[index] for row in rows) / total, label=label))
    return replace(part, measurements=(*part.measurements, *means), metrics=(*part.metrics, _MEAN))


def _other_count(label: str, total: float, count: int) -> str:
    if not label:
        return _("{total:,.0f} transactions in the file, {count:,} in the output", total=total, count=count)
    return _(
        "{total:,.0f} transactions of {label} in the file, {count:,} in the output",
        total=total,
        label=label,
        count=count,
    )


def _other_total(label: str, total: float, count: int) -> str:
    if not label:
        return _("The file counts {total:,.0f} transactions, the output {count:,}.", total=total, count=count)
    return _(
        "The file counts {total:,.0f} transactions of {label}, the output {count:,}.",
        total=total,
        label=label,
        count=count,
    )


def _facts(text: str) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    for words, name in _CONFIG.items():
        if match := re.search(rf"^{words} +: ([0-9]{{1,15}})", text, re.MULTILINE):
            facts[name] = int(match[1])
    if scale := re.search(r"\] Scale factor : ([0-9]{1,15})$", text, re.MULTILINE):
        facts["scale"] = int(scale[1])
    if version := re.search(r"> JdbcRunner ([0-9][0-9.]*)", text):
        facts["client_version"] = f"JdbcRunner {version[1]}"
    return facts


FORMAT = Format(
    name="jdbcrunner",
    title="JdbcRunner",
    files=_("What JdbcRunner printed, and its result files log_…_t.csv and log_…_r.csv where they are there."),
    headline="tps",
    metrics=(_MEAN, *_LATENCIES.values()),
    recognises=recognises,
    read=read,
)
