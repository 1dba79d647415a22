"""There is nothing to parse. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part


def parse(reading: Reading) -> Part:
    return Part()
