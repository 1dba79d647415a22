"""Selection ↔ short query string, both ways. Pure.

    run=41,42&x=clients&series=version&metric=latency.p99&baseline=11.6&filter.scale=10,100

A parameter that is at its default is left out; `series=none` asks for one line without series. Several values stand
behind each other with commas, or the parameter is repeated; a comma that belongs to a value is written %2C.
"""

from __future__ import annotations

from urllib.parse import quote_plus, unquote_plus

from results.errors import TeitenError
from results.queries.comparison import Selection

FILTER = "filter."
TEXTS = ("x", "metric", "node", "label", "baseline")
NO_SERIES = "none"
_SAFE = "/:@"


def read(query: str) -> Selection:
    """The query string (without '?', as sent) → Selection. Unknown parameters are left alone; raises TeitenError for
    a run that is no number."""
    values = _parse(query)
    texts = {name: values[name][-1] for name in TEXTS if name in values}
    series = values["series"][-1] if "series" in values else None
    filters = {
        name.removeprefix(FILTER): tuple(dict.fromkeys(chosen))
        for name, chosen in sorted(values.items())
        if name.startswith(FILTER) and len(name) > len(FILTER)
    }
    runs = _runs(values.get("run", []))
    return Selection(runs=runs, filters=filters, series="" if series == NO_SERIES else series, **texts)


def write(selection: Selection) -> str:
    """Selection → the shortest query string that `read` makes the same Selection of."""
    parts = ["run=" + ",".join(map(str, selection.runs))] if selection.runs else []
    if selection.series is not None:
        parts.append(f"series={_quote(selection.series or NO_SERIES)}")
    parts += [f"{name}={_quote(value)}" for name in TEXTS if (value := getattr(selection, name))]
    parts += [
        f"{_quote(FILTER + name)}={','.join(map(_quote, chosen))}"
        for name, chosen in sorted(selection.filters.items())
        if chosen
    ]
    return "&".join(parts)


def _parse(query: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for part in query.split("&"):
        name, _, text = part.partition("=")
        items = [unquote_plus(item) for item in text.split(",")]
        values.setdefault(unquote_plus(name), []).extend(item for item in items if item)
    return {name: items for name, items in values.items() if items}


def _runs(items: list[str]) -> tuple[int, ...]:
    numbers = [number.strip() for item in items for number in item.split(",")]
    for number in numbers:
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            raise TeitenError(f"{number!r} is not the number of a run.", where="run", todo="Write run=41,42.")
    return tuple(dict.fromkeys(int(number) for number in numbers))


def _quote(text: str) -> str:
    return quote_plus(text, safe=_SAFE)
