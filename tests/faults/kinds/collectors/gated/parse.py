"""answer.txt → nothing but whether the collector came through. Pure."""

from __future__ import annotations

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Part


def parse(reading: Reading) -> Part:
    """Raises ParseError for an answer that is none."""
    text = reading.files.get("answer.txt", "through\n")
    if text != "through\n":
        raise ParseError("The gate did not answer.", file="answer.txt", line=1, text=text)
    return Part()
