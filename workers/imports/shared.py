"""What readers of several programs share. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from results.domain.errors import ImportedFileError
from results.domain.imports.values import TextFile
from results.domain.measurement.metrics import Metric
from workers.collectors.latency_log.spec import METRICS as LATENCIES
from workers.pgbench.metrics import METRICS as PGBENCH

# metrics of Teiten's own trials, for programs that measure the very same
KNOWN: Mapping[str, Metric] = {metric.name: metric for metric in (*PGBENCH, *LATENCIES)}
MS = 1000.0  # µs


def read_json(file: TextFile) -> list[Any]:
    """Return the JSON values of a file, one after the other. Raises ImportedFileError for what is no JSON, for NaN and
    Infinity, and for values nested too deeply."""
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
            "The file is not JSON, or was cut.",
            where=f"{file.name}:{error.lineno}",
            why=error.msg,
            todo="Import the whole file as the program wrote it.",
        ) from None
    except RecursionError:
        raise ImportedFileError(
            "The JSON is nested too deeply.", where=file.name, todo="Import the file that the program wrote."
        ) from None
    except ValueError as error:
        raise ImportedFileError(
            "The file has a value that is no number.", where=file.name, why=str(error), todo="Leave this run out."
        ) from None
    return values


def _no_number(text: str) -> float:
    raise ValueError(text)


def number(file: str, values: Mapping[str, Any], key: str) -> float:
    """Return the number under a key. Raises ImportedFileError where it is missing or none."""
    value = values.get(key)
    if isinstance(value, str):
        value = _as_number(value)
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        raise ImportedFileError(
            f"There is no number {key!r}.",
            where=file,
            why=repr(values.get(key))[:200],
            todo="Import the file unchanged, of a run that came to its end.",
        )
    return float(value)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def cut(file: str, why: str) -> ImportedFileError:
    return ImportedFileError(
        "The output ends before the program's result.",
        where=file,
        why=why or "The run was broken off, or the file was cut.",
        todo="Import a run that came to its end: a run that failed has no result to compare.",
    )
