"""Selection ↔ short query string, both ways. Pure.

    run=41,42&x=clients&series=version&metric=latency.p99&baseline=11.6&filter.scale=10,100

A parameter that is at its default is left out; `series=none` asks for one line without series. Several values stand
behind each other with commas, or the parameter is repeated; a comma that belongs to a value is written %2C.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote_plus, unquote_plus

from results.domain.errors import TeitenError
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from results.domain.nearest import nearest
from results.queries.shared.selection import Selection

FILTER = "filter."
TEXTS = ("x", "panel", "metric", "statistic", "node", "label", "per", "baseline")
DIMENSIONS = ("x", "series", "panel")  # one or several
NO_SERIES = "none"
DRAWN = {"axes": ("log", "linear"), "view": ("ratio", "speedup", "latency"), "scale": ("shared",)}
_SAFE = "/:@"


@dataclass(frozen=True)
class View:
    """How a page draws what was selected; says nothing about the data.

    axes: log or linear, '' for the page's choice.
    view: ratio (to the baseline), speedup (to the first x), latency (throughput against it), '' for the values
        themselves.
    scale: shared by all panels, '' for one of its own each."""

    axes: str = ""
    view: str = ""
    scale: str = ""


NO_VIEW = View()


def read(query: str, beside: Collection[str] = ()) -> Selection:
    """The query string (without '?', as sent) → Selection. Raises TeitenError for an unknown parameter, a run that is
    no number, and a NUL byte.

    beside: parameters that say nothing of the selection; one that ends in '.' stands for all that begin so."""
    values = _parse(query)
    _require_known(values, beside)
    texts = {
        name: ",".join(values[name]) if name in DIMENSIONS else values[name][-1] for name in TEXTS if name in values
    }
    series = ",".join(values["series"]) if "series" in values else None
    without = tuple(dict.fromkeys(values.get("without", ())))
    filters = {
        name.removeprefix(FILTER): tuple(dict.fromkeys(chosen))
        for name, chosen in sorted(values.items())
        if name.startswith(FILTER) and len(name) > len(FILTER)
    }
    runs = _runs(values.get("run", []))
    return Selection(runs=runs, filters=filters, series="" if series == NO_SERIES else series, without=without, **texts)


def runs_of(query: str) -> tuple[int, ...]:
    """The query string → the runs in it. Raises TeitenError as `read` does, but for unknown parameters."""
    return _runs(_parse(query).get("run", []))


def _require_known(names: Iterable[str], beside: Collection[str]) -> None:
    known = ("run", "series", "without", *TEXTS, *DRAWN, *beside)
    starts = (FILTER, *(name for name in beside if name.endswith(".")))
    for name in names:
        if name and name not in known and not name.startswith(starts):
            raise unknown_parameter(name, (*sorted(known), f"{FILTER}<dimension>"))


def unknown_parameter(name: str, known: Sequence[str]) -> TeitenError:
    """Return the error about a parameter that an address has and that means nothing there.

    known: those that mean something; '<…>' in one stands for anything."""
    meant = nearest(name, known)
    if not meant and any(one.startswith(FILTER) for one in known):
        meant = _("{parameter}, where {name} is a dimension", parameter=FILTER + name, name=name)
    if not known:
        todo = _("There are none here.")
    elif meant:
        todo = _("Did you mean {meant}? There are {known}.", meant=meant, known=linked(COMMA, known))
    else:
        todo = _("There are {known}.", known=linked(COMMA, known))
    return TeitenError(_("There is no parameter {name!r}.", name=name), where=name, todo=todo)


def read_view(query: str) -> View:
    """The query string → View. Raises TeitenError for what is no way to draw."""
    values = _parse(query)
    chosen = {name: values[name][-1] for name in DRAWN if name in values}
    for name, text in chosen.items():
        if text not in DRAWN[name]:
            what = _("There is no {name} {value!r}.", name=name, value=text)
            raise TeitenError(what, where=name, todo=_("There are {known}.", known=linked(COMMA, DRAWN[name])))
    return View(**chosen)


def write(selection: Selection, view: View = NO_VIEW) -> str:
    """Selection and View → the shortest query string that `read` and `read_view` make the same of."""
    parts = ["run=" + ",".join(map(str, selection.runs))] if selection.runs else []
    if selection.series is not None:
        parts.append(f"series={_several(selection.series or NO_SERIES)}")
    parts += [
        f"{name}={_several(value) if name in DIMENSIONS else _quote(value)}"
        for name in TEXTS
        if (value := getattr(selection, name))
    ]
    parts += [f"without={','.join(map(_quote, selection.without))}"] if selection.without else []
    parts += [
        f"{_quote(FILTER + name)}={','.join(map(_quote, chosen))}"
        for name, chosen in sorted(selection.filters.items())
        if chosen
    ]
    parts += [f"{name}={value}" for name in DRAWN if (value := getattr(view, name))]
    return "&".join(parts)


def _parse(query: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for part in query.split("&"):
        name, _sign, text = part.partition("=")
        name, items = unquote_plus(name), [unquote_plus(item) for item in text.split(",")]
        if "\x00" in name + "".join(items):
            # xgettext:no-python-format
            todo = _("Leave %00 out.")
            raise TeitenError(_("A NUL byte is nothing that can be chosen."), where="query", todo=todo)
        values.setdefault(name, []).extend(item for item in items if item)
    return {name: items for name, items in values.items() if items}


def _runs(items: list[str]) -> tuple[int, ...]:
    texts = [number.strip() for item in items for number in item.split(",")]
    for number in texts:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            what = _("{number!r} is not the number of a run.", number=number)
            raise TeitenError(what, where="run", todo=_("Write run=41,42."))
    return tuple(dict.fromkeys(int(number) for number in texts))


def _several(names: str) -> str:
    return ",".join(map(_quote, names.split(",")))


def _quote(text: str) -> str:
    return quote_plus(text, safe=_SAFE)
