"""Which program's output files are, and the trials in them. Pure."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from importlib import import_module

from results.domain.errors import ImportedFileError, TeitenError
from results.domain.imports.text import require_readable, to_text
from results.domain.imports.values import Format, ImportedTrial, SourceFile, TextFile
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _

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
            _(
                "Teiten itself failed on output of {program}: {error}.",
                program=chosen.title,
                error=type(error).__name__,
            ),
            where=names,
            why=str(error)[:200],
            todo=_("Import the files unchanged; where they are, please report it with the file."),
        ) from error


def _format(texts: Sequence[TextFile], name: str) -> Format:
    if name and name not in FORMATS:
        raise ImportedFileError(
            _("There is no program {name!r} to import from.", name=name),
            where="format",
            todo=_("There are {programs}, csv.", programs=linked(COMMA, FORMATS)),
        )
    recognised = [_recognised(text) for text in texts]
    for text, one in zip(texts, recognised, strict=True):
        wanted = FORMATS[name] if name else recognised[0]
        if one is None or wanted is None:
            raise _unknown(text, name)
        if one is not wanted:
            raise ImportedFileError(
                _("The file is output of {program}, not of {other}.", program=one.title, other=wanted.title),
                where=text.name,
                todo=_("Import the files of each program by themselves."),
            )
    chosen = FORMATS[name] if name else recognised[0]
    assert chosen is not None
    return chosen


def _recognised(text: TextFile) -> Format | None:
    return next((one for one in FORMATS.values() if one.recognises(text.text)), None)


def _unknown(text: TextFile, name: str) -> ImportedFileError:
    titles = linked(COMMA, (one.title for one in FORMATS.values()))
    return ImportedFileError(
        _("The file is not output of {program}.", program=FORMATS[name].title)
        if name
        else _("The file is output of no program known here."),
        where=text.name,
        why=_("It begins with {beginning!r}.", beginning=text.text.strip().splitlines()[0][:120]),
        todo=_("Known are {programs}. Any other result can be imported as CSV.", programs=titles),
    )


def _require_numbers(trial: ImportedTrial) -> None:
    if not trial.part.measurements:
        raise ImportedFileError(_("The file has no result."), where=trial.source, todo=_("Leave this run out."))
    for one in trial.part.measurements:
        if not math.isfinite(one.value):
            raise ImportedFileError(
                _(
                    "{metric} {label} is {value}, which is no number.",
                    metric=one.metric,
                    label=one.label,
                    value=str(one.value),
                ),
                where=trial.source,
                todo=_("The run measured nothing there: leave it out."),
            )
