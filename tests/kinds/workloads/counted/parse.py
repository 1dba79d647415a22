"""counts.txt → the mean time of a count. Pure."""

from __future__ import annotations

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Measurement, Part


def parse(reading: Reading) -> Part:
    """Raises ParseError for a line that is no count."""
    lines = reading.files.get("counts.txt", "").splitlines()
    for number, line in enumerate(lines, 1):
        if line != str(reading.parameters["rows"]):
            raise ParseError("This is not the number of rows.", file="counts.txt", line=number, text=line)
    if len(lines) < int(reading.parameters["times"]):
        return Part(failure=f"It counted {len(lines)} times. {reading.files.get('stderr.txt', '')}".strip())
    seconds = reading.window[1] - reading.window[0]
    return Part(measurements=(Measurement("count.seconds", seconds / len(lines)),))
