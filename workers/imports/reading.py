"""Which program's output files are, and the trials in them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from results.domain.errors import ImportedFileError
from results.domain.imports.text import require_readable, to_text
from results.domain.imports.values import Format, ImportedTrial, SourceFile, TextFile

# in the order in which they are asked whether a file is theirs
_MODULES = ("jdbcrunner", "sysbench", "hammerdb", "benchbase", "pgbench")
FORMATS: Mapping[str, Format] = {name: import_module(f"workers.imports.{name}").FORMAT for name in _MODULES}


def read_files(files: Sequence[SourceFile], name: str = "") -> tuple[Format, list[ImportedTrial]]:
    """Return the program and a trial for each of its runs. Raises ImportedFileError.

    name: of the program; '' to recognise it."""
    require_readable(files)
    texts = [to_text(file) for file in files]
    chosen = _format(texts, name)
    trials = chosen.read(texts)
    for trial in trials:
        _require_finite(trial)
    return chosen, trials


def _format(texts: Sequence[TextFile], name: str) -> Format:
    if name and name not in FORMATS:
        raise ImportedFileError(
            f"There is no program {name!r} to import from.",
            where="format",
            todo=f"There are {', '.join(FORMATS)}, csv.",
        )
    recognised = [_recognised(text) for text in texts]
    for text, one in zip(texts, recognised, strict=True):
        wanted = FORMATS[name] if name else recognised[0]
        if one is None or wanted is None:
            raise _unknown(text, name)
        if one is not wanted:
            raise ImportedFileError(
                f"The file is output of {one.title}, not of {wanted.title}.",
                where=text.name,
                todo="Import the files of each program by themselves.",
            )
    chosen = FORMATS[name] if name else recognised[0]
    assert chosen is not None
    return chosen


def _recognised(text: TextFile) -> Format | None:
    return next((one for one in FORMATS.values() if one.recognises(text.text)), None)


def _unknown(text: TextFile, name: str) -> ImportedFileError:
    titles = ", ".join(one.title for one in FORMATS.values())
    return ImportedFileError(
        f"The file is not output of {FORMATS[name].title}." if name else "The file is output of no program known here.",
        where=text.name,
        why=f"It begins with {text.text.strip().splitlines()[0][:120]!r}.",
        todo=f"Known are {titles}. Any other result can be imported as CSV.",
    )


def _require_finite(trial: ImportedTrial) -> None:
    for one in trial.part.measurements:
        if one.value != one.value or one.value in (float("inf"), float("-inf")):
            raise ImportedFileError(
                f"{one.metric} {one.label} is {one.value}, which is no number.",
                where=trial.source,
                todo="The run measured nothing there: leave it out.",
            )
