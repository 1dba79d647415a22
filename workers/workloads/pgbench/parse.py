"""A pgbench run's own files → measurements and series. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part
from workers.pgbench.parse import run_part

from .options import script_names


def parse(reading: Reading) -> Part:
    """See `workers.pgbench.parse.run_part`."""
    scripts = script_names(str(reading.parameters.get("script", "tpcb-like")))
    return run_part(reading, scripts, connect=bool(reading.parameters.get("connect")))
