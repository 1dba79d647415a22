"""Statistics before and after, samples, sizes and log of one server → a Part. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Gap, Measurement, Part
from results.domain.messages import gettext_lazy as _

from .log import events, replayed_to
from .samples import means, read_samples, sample_series
from .snapshot import differences, read_snapshot, why_not_comparable


def parse(reading: Reading) -> Part:
    """Read before.json, after.json, samples.txt, sizes.json and server.log, as far as they exist. Differences across a
    restart or a reset are a Gap, and so are samples that end too early. Raises ParseError for damaged files."""
    files, node = reading.files, reading.node
    start_s = reading.window[0] + reading.clock_offset_s
    measurements, gaps = _differences(reading)
    if "sizes.json" in files:
        measurements += tuple(_sizes(files["sizes.json"], node))
    samples = read_samples(files.get("samples.txt", ""))
    if samples and (reason := reading.cut_short(float(samples[-1]["at"]) - start_s)):
        gaps += (Gap("pg_stat", node, _("samples: {reason}", reason=reason)),)
    series = tuple(sample_series(samples, node, start_s))
    return Part(
        measurements=(*measurements, *means(series, reading.window[1] - reading.window[0])),
        series=series,
        events=events(files.get("server.log", ""), node, start_s),
        gaps=gaps,
    )


def _differences(reading: Reading) -> tuple[tuple[Measurement, ...], tuple[Gap, ...]]:
    if not {"before.json", "after.json"} <= reading.files.keys():
        return (), ()
    before, after = (read_snapshot(reading.files[name], name) for name in ("before.json", "after.json"))
    if reason := why_not_comparable(before, after):
        return (), (Gap("pg_stat", reading.node, reason),)
    age = Measurement("steady.server_age", before.at_s - before.postmaster_started, reading.node)
    measurements = tuple(differences(before, after, reading.node))
    return (age, *measurements, *_own_wal(before.wal_bytes, after.wal_bytes, reading)), ()


def _own_wal(before: float, after: float, reading: Reading) -> Iterator[Measurement]:
    """Divide the WAL of a standby promoted in the window into what it replayed and what it wrote itself."""
    begin = replayed_to(reading.files.get("server.log", ""))
    if begin is not None and before <= begin <= after:
        yield Measurement("wal.bytes", begin - before, reading.node, "replayed")
        yield Measurement("wal.bytes", after - begin, reading.node, "written")


def _sizes(text: str, node: str) -> Iterator[Measurement]:
    try:
        rows = [
            (str(row["name"]), float(row["table_bytes"]), float(row["index_bytes"])) for row in json_text.loads(text)
        ]
    except (ValueError, KeyError, TypeError) as error:
        what = _("not the sizes of tables: {error}", error=repr(error))
        raise ParseError(what, file="sizes.json", line=1, text=text[:200]) from None
    for name, table, index in rows:
        yield Measurement("size.table", table, node, name)
        yield Measurement("size.index", index, node, name)
    table, index = sum(row[1] for row in rows), sum(row[2] for row in rows)
    yield Measurement("size.table", table, node)
    yield Measurement("size.index", index, node)
    yield Measurement("size.total", table + index, node)
