"""What the checks wrote → a document for each and counts. Pure."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from results.errors import ParseError
from results.parsed import Document, Measurement, Part
from results.specs import Reading

_OUTCOMES = ("yes", "partly", "no", "unknown")
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "access_method": str,
    "title": str,
    "group": str,
    "order": int,
    "outcome": str,
    "message": str,
    "compared": str,
    "seconds": (int, float),
}


def parse(reading: Reading) -> Part:
    """expected.json and checks/NAME.json → a Part. Checks that were not come to are its failure. Raises ParseError for
    damaged files."""
    expected = _read(reading, "expected.json")
    if not isinstance(expected, list) or not all(isinstance(name, str) for name in expected):
        raise ParseError("not a list of names", file="expected.json", line=1, text=str(expected))
    done = [name for name in expected if f"checks/{name}.json" in reading.files]
    documents = tuple(Document("capability", name, _content(reading, name), node="primary") for name in done)
    missing = [name for name in expected if name not in done]
    return Part(
        measurements=_measurements(documents),
        documents=documents,
        failure=f"Checks that were not come to: {', '.join(missing)}." if missing else "",
    )


def _measurements(documents: tuple[Document, ...]) -> tuple[Measurement, ...]:
    counts = Counter(document.content["outcome"] for document in documents)
    totals = tuple(Measurement(f"capabilities.{outcome}", float(counts[outcome])) for outcome in _OUTCOMES)
    times = tuple(
        Measurement("check.seconds", float(document.content["seconds"]), label=document.label) for document in documents
    )
    return totals + times


def _content(reading: Reading, name: str) -> dict[str, Any]:
    file = f"checks/{name}.json"
    content = _read(reading, file)
    if not isinstance(content, dict):
        raise ParseError("not the account of a check", file=file, line=1, text=str(content))
    for field, kind in _FIELDS.items():
        if not isinstance(content.get(field), kind):
            raise ParseError(f"no {field}, or not one of its type", file=file, line=1, text=str(content))
    if content["outcome"] not in _OUTCOMES:
        raise ParseError(f"{content['outcome']!r} is not an outcome", file=file, line=1)
    return content


def _read(reading: Reading, file: str) -> Any:
    text = reading.files.get(file)
    if text is None:
        raise ParseError("the file is not there", file=file)
    try:
        return json.loads(text)
    except ValueError as error:
        raise ParseError(f"not JSON: {error}", file=file, text=text) from None
