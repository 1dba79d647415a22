"""An update scale-up's own files → measurements and series. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.parse import run_part


def parse(reading: Reading) -> Part:
    """See `workers.pgbench.parse.run_part`."""
    return run_part(reading, ["update"])
