"""What readers of several programs share. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from results.domain.errors import ImportedFileError
from results.domain.imports.values import TextFile
from results.domain.measurement.metrics import Metric
from results.domain.messages import AND, linked
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from workers.collectors.latency_log.spec import METRICS as LATENCIES
from workers.pgbench.metrics import METRICS as PGBENCH

# metrics of Teiten's own trials, for programs that measure the very same
KNOWN: Mapping[str, Metric] = {metric.name: metric for metric in (*PGBENCH, *LATENCIES)}
MS = 1000.0  # µs
MOST_JSON_BYTES = 8 * 1024**2  # which may take 200 MB of memory; the programs write some 100 KB
_LARGEST = 1e18


def read_json(file: TextFile) -> list[Any]:
    """Return the JSON values of a file, one after the other. Raises ImportedFileError for what is no JSON, for NaN and
    Infinity, for values nested too deeply, and for more than any summary has."""
    _require_short(file)
    decoder = json.JSONDecoder(parse_constant=_no_number)
    values, text = [], file.text.strip()
    position = 0
    try:
        while position < len(text):
            value, position = decoder.raw_decode(text, position)
            values.append(value)
            while position < len(text) and text[position].isspace():
                position += 1
    except json.JSONDecodeError as error:
        raise ImportedFileError(
            _("The file is not JSON, or was cut."),
            where=f"{file.name}:{error.lineno}",
            why=error.msg,
            todo=_("Import the whole file as the program wrote it."),
        ) from None
    except RecursionError:
        raise ImportedFileError(
            _("The JSON is nested too deeply."), where=file.name, todo=_("Import the file that the program wrote.")
        ) from None
    except ValueError as error:
        raise ImportedFileError(
            _("The file has a value that is no number."), where=file.name, why=str(error), todo=_("Leave this run out.")
        ) from None
    return values


def _require_short(file: TextFile) -> None:
    if len(file.text) > MOST_JSON_BYTES:
        raise ImportedFileError(
            _("The file has more than {size} of JSON.", size=format_quantity(MOST_JSON_BYTES, "B")),
            where=file.name,
            todo=_("Import the program's summary of the run, not the values of each second or transaction."),
        )


def _no_number(text: str) -> float:
    raise ValueError(text)


def number(file: str, values: Mapping[str, Any], key: str) -> float:
    """Return the number under a key. Raises ImportedFileError where it is missing, none, or larger than any count or
    time that was ever measured."""
    value = values.get(key)
    number = _as_number(value)
    if number is None or not abs(number) < _LARGEST:
        raise ImportedFileError(
            _("There is no number {key!r}.", key=key),
            where=file,
            why=repr(value)[:200],
            todo=_("Import the file unchanged, of a run that came to its end."),
        )
    return number


def _as_number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def files_of(
    beginnings: Mapping[str, Sequence[str]], files: Sequence[TextFile], todo: str
) -> dict[str, list[TextFile]]:
    """Return output → the files that belong to it: those whose names begin with one of its beginnings, and with no
    longer one of another output. With a single output all are its. Raises ImportedFileError for a file of no output, or
    of two alike.

    todo: how to name such a file."""
    groups: dict[str, list[TextFile]] = {output: [] for output in beginnings}
    for file in files:
        owners = list(beginnings) if len(beginnings) == 1 else _owners(beginnings, file.name)
        if len(owners) != 1:
            raise ImportedFileError(
                _("The file belongs to two of the outputs.")
                if owners
                else _("The file belongs to none of the outputs."),
                where=file.name,
                why=_begins_as(owners) if owners else "",
                todo=todo,
            )
        groups[owners[0]].append(file)
    return groups


def _owners(beginnings: Mapping[str, Sequence[str]], name: str) -> list[str]:
    lengths = {
        output: max((len(one) for one in of_output if name.startswith(one)), default=0)
        for output, of_output in beginnings.items()
    }
    longest = max(lengths.values(), default=0)
    return [output for output, length in lengths.items() if length == longest] if longest else []


def _begins_as(owners: Sequence[str]) -> str:
    names = linked(AND, owners)
    return _("Its name begins as those of {names}.", names=names)


def several_runs(file: str, why: str) -> ImportedFileError:
    return ImportedFileError(
        _("The file has the output of several runs."),
        where=file,
        why=why,
        todo=_("Split it: import what was printed of each run as a file of its own."),
    )


def cut(file: str, why: str) -> ImportedFileError:
    return ImportedFileError(
        _("The output ends before the program's result."),
        where=file,
        why=why or _("The run was broken off, or the file was cut."),
        todo=_("Import a run that came to its end: a run that failed has no result to compare."),
    )
