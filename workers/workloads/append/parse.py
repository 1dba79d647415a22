"""An append run's own files → measurements and series, if no row was lost. Pure."""

from __future__ import annotations

from dataclasses import replace

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part
from results.domain.messages import gettext_lazy as _
from workers.pgbench.parse import run_part

_FILE = "rows.json"


def parse(reading: Reading) -> Part:
    """See `workers.pgbench.parse.run_part`. The server must have as many rows as pgbench's transactions make: else the
    run failed, and there is no rate of rows. Raises ParseError."""
    part = run_part(reading, ["append"])
    rows = _rows(reading)
    if rows is None:
        return replace(part, failure=part.failure or _("The server's rows were not counted after the run."))
    values = {
        measurement.metric: measurement.value
        for measurement in part.measurements
        if not measurement.label and not measurement.node
    }
    per_transaction = int(reading.parameters["rows_per_transaction"])
    measurements = (*part.measurements, Measurement("append.rows", rows))
    expected = int(values.get("transactions", 0)) * per_transaction
    if part.failure or rows != expected:
        lost = _(
            "The server has {rows:,} rows of the run, pgbench's transactions make {expected:,}.",
            rows=rows,
            expected=expected,
        )
        return replace(part, measurements=measurements, failure=part.failure or lost)
    rate = Measurement("append.rows_per_second", values["tps"] * per_transaction)
    return replace(part, measurements=(*measurements, rate))


def _rows(reading: Reading) -> int | None:
    text = reading.files.get(_FILE, "")
    if not text:
        return None
    try:
        counted = json_text.loads(text)
        return int(counted["after"]) - int(counted["before"])
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(_("not a count of rows"), file=_FILE, line=1, text=f"{error!r} in {text[:150]}") from None
