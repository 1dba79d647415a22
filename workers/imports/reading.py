"""Which program's output files are, and the trials in them. Pure."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from importlib import import_module

from results.domain.errors import ImportedFileError, TeitenError
from results.domain.imports.text import require_readable, to_text
from results.domain.imports.values import Format, ImportedTrial, SourceFile, TextFile

log = logging.getLogger(__name__)

# in the order in which they are asked whether a file is theirs
_MODULES = ("jdbcrunner", "sysbench", "hammerdb", "benchbase", "pgbench")
FORMATS: Mapping[str, Format] = {name: import_module(f"workers.imports.{name}").FORMAT for name in _MODULES}


def read_files(files: Sequence[SourceFile], name: str = "") -> tuple[Format, list[ImportedTrial]]:
    """Return the program and a trial for each of its runs. Raises ImportedFileError.

    name: of the program; '' to recognise it."""
    require_readable(files)
    texts = [to_text(file) for file in files]
    chosen = _format(texts, name)
    trials = _read(chosen, texts)
    for trial in trials:
        _require_numbers(trial)
    return chosen, trials


def _read(chosen: Format, texts: Sequence[TextFile]) -> list[ImportedTrial]:
    try:
        return chosen.read(texts)
    except TeitenError:
        raise
    except Exception as error:
        names = ", ".join(text.name for text in texts)[:200]
        log.exception("import of %s: %s", chosen.title, names)
        raise ImportedFileError(
            f"Teiten itself failed on output of {chosen.title}: {type(error).__name__}.",
            where=names,
            why=str(error)[:200],
            todo="Import the files unchanged; where they are, please report it with the file.",
        ) from error


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


def _require_numbers(trial: ImportedTrial) -> None:
    if not trial.part.measurements:
        raise ImportedFileError("The file has no result.", where=trial.source, todo="Leave this run out.")
    for one in trial.part.measurements:
        if not math.isfinite(one.value):
            raise ImportedFileError(
                f"{one.metric} {one.label} is {one.value}, which is no number.",
                where=trial.source,
                todo="The run measured nothing there: leave it out.",
            )
