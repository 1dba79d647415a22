"""Results that another program measured, as read from its files. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from results.domain.measurement.metrics import Metric
from results.domain.measurement.parsed_trial import Part

Scalar = str | int | float


@dataclass(frozen=True)
class SourceFile:
    """A file as it was handed in.

    name: without folders.
    content: unchanged."""

    name: str
    content: bytes

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @property
    def size_bytes(self) -> int:
        return len(self.content)


@dataclass(frozen=True)
class TextFile:
    """A file as text, line ends as `\\n`, without a byte order mark."""

    name: str
    text: str


@dataclass(frozen=True)
class ImportedTrial:
    """What one run of the other program measured.

    source: what it is called in lists: the file's name, with the row where it has several.
    files: names of the files that it was read from.
    facts: dimension → value that the files state (`clients`, `scale`, `version`).
    part: measurements with the metrics that they are of.
    levels: factor → level, of a table that has columns of factors.
    places: (metric, label) → where the number stands, as 'line 3, column tps'; of tables only.
    workload: what the files say was run, as 'oltp_read_write'; '' where they do not say.
    """

    source: str
    files: tuple[str, ...]
    facts: Mapping[str, Scalar]
    part: Part
    levels: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[tuple[str, str], str] = field(default_factory=dict)
    workload: str = ""


@dataclass(frozen=True)
class Format:
    """A program whose results can be imported.

    name: in addresses and commands.
    title: as its authors write it.
    files: which of its files, in words.
    headline: the metric that stands for a trial in lists.
    metrics: those of its own, beside Teiten's.
    recognises: whether a text is its output.
    read: its files → a trial each. Raises ImportedFileError.
    """

    name: str
    title: str
    files: str
    headline: str
    metrics: Sequence[Metric]
    recognises: Callable[[str], bool]
    read: Callable[[Sequence[TextFile]], list[ImportedTrial]]


def named(metrics: Sequence[Metric]) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics}
