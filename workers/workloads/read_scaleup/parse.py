"""A read scale-up's own files → measurements, series and the plan of its query. Pure."""

from __future__ import annotations

from dataclasses import replace

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Document, Part
from results.domain.messages import gettext_lazy as _
from workers.pgbench.parse import run_part

_FILE = "plan.json"


def parse(reading: Reading) -> Part:
    """See `workers.pgbench.parse.run_part`; the plan that EXPLAIN gave before the clock started is a document. Raises
    ParseError."""
    variant = str(reading.parameters["variant"])
    part = run_part(reading, [variant])
    text = reading.files.get(_FILE, "")
    if not text:
        return part
    try:
        plan = json_text.loads(text)
    except ValueError as error:
        raise ParseError(_("not the plan of a query: {error}", error=str(error)), file=_FILE, text=text) from None
    return replace(part, documents=(*part.documents, Document("plan", variant, plan, "primary")))
