"""answer.txt → a count, for a file that is not garbage. Pure; it takes for granted what it should not."""

from __future__ import annotations

from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part


def parse(reading: Reading) -> Part:
    first = reading.files["answer.txt"].splitlines()[0]
    return Part(measurements=(Measurement("garbled.count", float(first.split()[1]), reading.node),))
