"""The forms in which a comparison can be had, and the files that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from django.utils.translation import gettext

from results.domain.errors import TeitenError
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from webapp.bibliography import Entry, bibtex, csl
from webapp.charts.comparison import Panel
from webapp.charts.steps import Steps
from webapp.documents import files
from webapp.documents.parts import Plate
from webapp.documents.turn import turn
from webapp.drawing.files import TYPES, draw
from webapp.drawing.style import shape_named
from webapp.exports.comparison import Exported, document_of, plates
from webapp.exports.rows import as_csv, as_excel, as_parquet

_ZIP = "application/zip"
_LIGHT = ("csv", "csv.zip", "provenance.json")  # made at once, for programs too


@dataclass(frozen=True)
class File:
    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True)
class Choice:
    """Which figure, of those of the page from 1 on, and for what it is drawn: page, slide or print."""

    figure: int = 1
    shape: str = ""


@dataclass(frozen=True)
class Form:
    """label: as pages call it."""

    label: str
    content_type: str
    written: Callable[[Exported, Choice], bytes]


def file_of(one: Exported, form: str, choice: Choice = Choice()) -> File:
    """Return the comparison in a form, under a name that says what it holds. Raises TeitenError."""
    if form not in FORMS:
        raise TeitenError(
            _("There is no export as {form!r}.", form=form),
            where="form",
            todo=_("There are {names}.", names=linked(COMMA, FORMS)),
        )
    chosen = FORMS[form]
    name = f"{one.name}{_which(one, form, choice)}.{form}"
    with nullcontext() if form in _LIGHT else turn():
        return File(name, chosen.content_type, chosen.written(one, choice))


def _which(one: Exported, form: str, choice: Choice) -> str:
    if form not in TYPES or form == "pdf":
        return ""
    several = len(list(plates(one))) > 1
    return f"{f'-figure-{choice.figure}' if several else ''}{f'-{choice.shape}' if choice.shape else ''}"


def _figure(form: str) -> Callable[[Exported, Choice], bytes]:
    return lambda one, choice: draw(_plate(one, choice.figure).picture, form, shape_named(choice.shape))


def _plate(one: Exported, number: int) -> Plate:
    every = list(plates(one))
    if not 1 <= number <= len(every):
        todo = _("Choose 1 to {last}.", last=len(every)) if every else ""
        raise TeitenError(_("There is no figure {number}.", number=number), where="figure", todo=todo)
    return every[number - 1]


def _document(suffix: str) -> Form:
    form = files.FORMS[suffix]
    return Form(form.label, form.content_type, lambda one, _choice: form.written(document_of(one), one.name))


def _csv_packed(one: Exported, _choice: Choice) -> bytes:
    rows = as_csv(one.comparison).encode()
    return files.packed({f"{one.name}.csv": rows, files.PROVENANCE: files.provenance_file(one.facts)})


def _everything(one: Exported, _choice: Choice) -> bytes:
    """Return all forms and all figures in one archive."""
    document = document_of(one)
    content = {f"{one.name}.{form}": files.FORMS[form].written(document, one.name) for form in ("pdf", "html")}
    for suffix in ("md", "rst", "tex"):
        content |= files.unpacked(files.FORMS[f"{suffix}.zip"].written(document, one.name))
    content |= {
        f"{one.name}.csv": as_csv(one.comparison).encode(),
        f"{one.name}.xlsx": as_excel(one.comparison, one.facts),
        f"{one.name}.parquet": as_parquet(one.comparison, one.facts),
    }
    for number, plate in enumerate(plates(one), 1):
        for shape in ("page", "slide", "print"):
            for form in ("svg", "png"):
                name = f"figures/{shape}/figure-{number}-{plate.name}.{form}"
                content[name] = draw(plate.picture, form, shape_named(shape))
    return files.packed(content)


FORMS: Mapping[str, Form] = {
    **{suffix: _document(suffix) for suffix in files.FORMS},
    "csv": Form("CSV", "text/csv; charset=utf-8", lambda one, _choice: as_csv(one.comparison).encode()),
    "csv.zip": Form("CSV", _ZIP, _csv_packed),
    "xlsx": Form(
        "Excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        lambda one, _choice: as_excel(one.comparison, one.facts),
    ),
    "parquet": Form(
        "Parquet", "application/vnd.apache.parquet", lambda one, _choice: as_parquet(one.comparison, one.facts)
    ),
    "svg": Form("SVG", TYPES["svg"], _figure("svg")),
    "png": Form("PNG", TYPES["png"], _figure("png")),
    "provenance.json": Form(_("Provenance"), "application/json", lambda one, _choice: files.provenance_file(one.facts)),
    "zip": Form(_("All in one ZIP"), _ZIP, _everything),
}

SHAPES = (("page", _("for a page")), ("slide", _("for a slide, 16:9")), ("print", _("for a print without colours")))
OFFERED = ("pdf", "html", "md.zip", "rst.zip", "tex.zip", "csv.zip", "xlsx", "parquet", "provenance.json", "zip")


def offered() -> list[tuple[str, str]]:
    """(form, label) of what pages offer."""
    return [(form, FORMS[form].label) for form in OFFERED]


def figures(panels: Sequence[Panel], stack: Steps | None) -> list[tuple[int, str]]:
    """(number, name) of each figure, as `Choice` numbers them."""
    names = [*([gettext("part by part")] if stack else []), *(panel.title or gettext("The figure") for panel in panels)]
    return list(enumerate(names, 1))


BIBLIOGRAPHIES = {"bib": "application/x-bibtex; charset=utf-8", "csl.json": "application/vnd.citationstyles.csl+json"}


def bibliography(entry: Entry, form: str) -> File:
    """Return how something is cited, in one of BIBLIOGRAPHIES."""
    text = bibtex(entry) if form == "bib" else csl(entry)
    return File(f"{entry.key}.{form}", BIBLIOGRAPHIES[form], text.encode())
