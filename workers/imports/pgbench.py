"""pgbench's output, with its per-transaction log (-l) where there is one, → trials. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath

from results.domain.errors import ImportedFileError, ParseError
from results.domain.imports.values import Format, ImportedTrial, Scalar, TextFile, named
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.imports.pgbench_log import is_log, read_logs
from workers.imports.shared import files_of, several_runs
from workers.pgbench.metrics import METRICS
from workers.pgbench.parse import run_part
from workers.pgbench.progress import first_error

_NODE = "client"
_WHOLE = 0.9  # of the duration, from which a run counts as whole: connecting takes the rest
_AGAIN = _("Import a run that came to its end: a run that failed has no result to compare.")
# a line of the report → the dimension that it states
_FACTS = {
    "scaling factor": "scale",
    "number of clients": "clients",
    "number of threads": "threads",
    "query mode": "protocol",
    "duration": "duration_s",
    "number of transactions per client": "transactions",
    "transaction type": "script",
}
_BUILTINS = {
    "<builtin: TPC-B (sort of)>": "tpcb-like",
    "<builtin: simple update>": "simple-update",
    "<builtin: select only>": "select-only",
}
# what a run prints once, whatever its version
_ONCE = (
    r"pgbench \(\d",
    "starting vacuum[.]",
    "transaction type: ",
    "number of transactions actually processed: ",
)
_FACT = re.compile(r"^(?P<name>" + "|".join(_FACTS) + r"): (?P<value>.+)$", re.MULTILINE)
_REPORT = re.compile(r"^(?:pgbench \(\d|transaction type: |pgbench: |progress: [\d.]+ s, )", re.MULTILINE)
_VERSION = re.compile(r"^pgbench \((?P<client>\d[^ ,)]*)[^,)]*\)?(?:.*?server (?P<server>\d[^ )]*))?", re.MULTILINE)


def recognises(text: str) -> bool:
    return is_log(text) or _REPORT.search(text) is not None


def read(files: Sequence[TextFile]) -> list[ImportedTrial]:
    """Return a trial of each output. A log belongs to the output whose name without its ending is how the log's name
    begins, the longest of several; with a single output all logs are its. Raises ImportedFileError."""
    logs = [file for file in files if is_log(file.text)]
    outputs = [file for file in files if file not in logs]
    if not outputs:
        raise ImportedFileError(
            _("There is a log of transactions, but no report of pgbench."),
            where=logs[0].name,
            why=_("The log does not say how many clients there were, nor whether the run came to its end."),
            todo=_("Add what pgbench printed when it ended."),
        )
    of_output = files_of(
        {output.name: (f"{PurePath(output.name).stem}.",) for output in outputs},
        logs,
        todo=_("Name it after its output: c8.log.4711 beside c8.txt (pgbench --log-prefix=c8.log)."),
    )
    return [_trial(output, of_output[output.name]) for output in outputs]


def _trial(output: TextFile, logs: Sequence[TextFile]) -> ImportedTrial:
    part = _read_report(output)
    facts = _facts(output.text)
    if "clients" not in facts:
        raise ImportedFileError(
            _("The report has no line 'number of clients'."),
            where=output.name,
            todo=_("Import the whole of what pgbench printed."),
        )
    if logs:
        part = _with_logs(part, logs)
    names = {one.metric for one in part.measurements}
    known = named((*METRICS, *part.metrics))
    part = replace(part, metrics=tuple(metric for name, metric in known.items() if name in names))
    return ImportedTrial(output.name, (output.name, *(log.name for log in logs)), facts, part, workload="pgbench")


def _read_report(output: TextFile) -> Part:
    text = output.text.rstrip("\n") + "\n"
    _require_one_run(output.name, text)
    failure = first_error(text)
    if not re.search(r"^tps = ", text, re.MULTILINE):
        raise ImportedFileError(
            _("The output ends before pgbench's result: it has no line 'tps ='."),
            where=output.name,
            why=failure or _("The run was broken off, or the file was cut."),
            todo=_AGAIN,
        )
    reading = Reading(node=_NODE, files={"stdout": text, "stderr": text, "exit": "0"}, parameters={}, window=(0.0, 0.0))
    try:
        part = run_part(reading, (), connect="average connection time" in text)
    except ParseError as error:
        raise ImportedFileError(
            _("This is not as pgbench prints it: {what}.", what=error.what),
            where=f"{output.name}:{error.line}" if error.line else output.name,
            why=error.why,
            todo=_("Import the output unchanged."),
        ) from None
    if failure := part.failure or _ended_early(text):
        raise ImportedFileError(_("The run did not succeed."), where=output.name, why=failure, todo=_AGAIN)
    return part


def _require_one_run(file: str, text: str) -> None:
    """Raise ImportedFileError for what several runs printed: their numbers would become those of one."""
    for beginning in _ONCE:
        lines = re.findall(f"^{beginning}.*", text, re.MULTILINE)
        if len(lines) > 1:
            raise several_runs(file, _("It has {first!r} and {second!r}.", first=lines[0][:100], second=lines[1][:100]))
    times_s = [float(time) for time in re.findall(r"^progress: ([\d.]+) s, ", text, re.MULTILINE)]
    for before, after in pairwise(times_s):
        if after < before:
            raise several_runs(
                file, _("The progress at {after:g} s comes after that at {before:g} s.", after=after, before=before)
            )


def _ended_early(text: str) -> str:
    """Return how far a run came that says it was to last longer: all that an abort leaves on standard output."""
    processed = re.search(r"^number of transactions actually processed: (\d+)(?:/(\d+))?", text, re.MULTILINE)
    if processed is None:
        return ""
    done = int(processed[1])
    others = re.findall(r"^number of (?:failed transactions|transactions skipped): (\d+)", text, re.MULTILINE)
    if processed[2] and done + sum(map(int, others)) < int(processed[2]):
        return _("It ended after {done:,} of {all:,} transactions.", done=done, all=int(processed[2]))
    duration = re.search(r"^duration: (\d+) s", text, re.MULTILINE)
    rates = [float(rate) for rate in re.findall(r"^tps = ([\d.]+)", text, re.MULTILINE)]
    lasted_s = done / min(rates) if rates and min(rates) > 0 else 0.0
    if duration and lasted_s < _WHOLE * int(duration[1]):
        return _(
            "It ended after {lasted:.1f} s of {duration} s: pgbench's error output says why.",
            lasted=lasted_s,
            duration=duration[1],
        )
    return ""


def _with_logs(part: Part, logs: Sequence[TextFile]) -> Part:
    """Add the log's percentiles; mean and standard deviation come from its exact counts, as of Teiten's own trials."""
    transactions = next((m.value for m in part.measurements if (m.metric, m.label) == ("transactions", "")), None)
    logged = read_logs(logs, _NODE, transactions)
    whole = next(one.histogram for one in logged.latencies if not one.label)
    exact = {"latency.mean": whole.mean_us(), "latency.sd": whole.sd_us()}
    reported = [m for m in part.measurements if m.label or m.metric not in exact]
    counted = [Measurement(name, value) for name, value in exact.items()]
    return replace(
        part,
        measurements=(*reported, *counted, *logged.measurements),
        latencies=logged.latencies,
        metrics=logged.metrics,
    )


def _facts(text: str) -> dict[str, Scalar]:
    facts: dict[str, Scalar] = {}
    for match in _FACT.finditer(text):
        value = match["value"].strip().removesuffix(" s")
        facts[_FACTS[match["name"]]] = int(value) if re.fullmatch("[0-9]{1,15}", value) else _BUILTINS.get(value, value)
    if version := _VERSION.search(text):
        facts["version"] = version["server"] or version["client"]
        facts["client_version"] = version["client"]
    return facts


FORMAT = Format(
    name="pgbench",
    title="pgbench",
    files=_("What pgbench printed when it ended, and the log of its transactions (-l) where there is one."),
    headline="tps",
    metrics=(),
    recognises=recognises,
    read=read,
)
