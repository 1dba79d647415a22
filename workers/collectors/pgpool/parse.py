"""pgpool-II's counts before and after → what it sent to each server. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.pgpool.answers import read_rows

NAMES = "servers.json"
ANSWERS = {"nodes.txt": "POOL_NODES", "cache.txt": "POOL_CACHE", "statements.txt": "POOL_BACKEND_STATS"}
_BY_SERVER = (
    # (metric, file, columns that are summed)
    ("pgpool.selects", "nodes.txt", ("select_cnt",)),
    ("pgpool.writes", "statements.txt", ("insert_cnt", "update_cnt", "delete_cnt")),
    ("pgpool.errors", "statements.txt", ("panic_cnt", "fatal_cnt", "error_cnt")),
)


def parse(reading: Reading) -> Part:
    """Compute the differences: of each server under its name, of all under none. Nothing where an answer is missing.
    Raises ParseError for damaged files."""
    expected_files = [f"{when}/{file}" for when in ("before", "after") for file in ANSWERS]
    if not {NAMES, *expected_files} <= reading.files.keys():
        return Part()
    names = _names(reading.files[NAMES])
    measurements = [
        measurement
        for metric, file, columns in _BY_SERVER
        for measurement in _differences(reading, names, metric, file, columns)
    ]
    hits = _cache_hits(reading, "after/cache.txt") - _cache_hits(reading, "before/cache.txt")
    return Part(measurements=(*measurements, Measurement("pgpool.cache.hits", hits)))


def _cache_hits(reading: Reading, path: str) -> float:
    hits = _column_sums(reading, path, ("num_cache_hits",))
    if len(hits) != 1:
        what = _("{count} rows of the cache's counts", count=len(hits))
        raise ParseError(what, file=path, line=1, text=reading.files[path])
    return hits[0]


def _names(text: str) -> list[str]:
    try:
        names = json_text.loads(text)
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return names
    except ValueError as error:
        raise ParseError(_("not JSON: {error}", error=str(error)), file=NAMES, text=text) from None
    raise ParseError(_("not a list of names"), file=NAMES, text=text)


def _differences(
    reading: Reading, names: Sequence[str], metric: str, file: str, columns: Sequence[str]
) -> Iterator[Measurement]:
    before, after = (_column_sums(reading, f"{when}/{file}", columns) for when in ("before", "after"))
    if not len(before) == len(after) == len(names):
        what = _("not a row for each of {names}", names=", ".join(names))
        raise ParseError(what, file=file, line=1, text=reading.files[f"after/{file}"])
    gained = [late - early for early, late in zip(before, after, strict=True)]
    for name, value in zip(names, gained, strict=True):
        yield Measurement(metric, value, name)
    yield Measurement(metric, sum(gained))


def _column_sums(reading: Reading, path: str, columns: Sequence[str]) -> list[float]:
    """Return the sum of the columns for each row, servers in their order."""
    rows = read_rows(reading.files[path], path, columns)
    try:
        return [sum(float(row[column]) for column in columns) for row in rows]
    except ValueError as error:
        raise ParseError(_("not a count: {error}", error=str(error)), file=path, line=2, text=str(rows)) from error
