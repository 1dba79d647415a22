"""The results of the checks → a document for each, and counts. Pure."""

from __future__ import annotations

from collections import Counter
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement.parsed_trial import Document, Measurement, Part
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _

ANSWERS = 2
"""Version of the outcomes: from 2 on cannot, chose-not-to and fails-differently replace no, with the statement that
decided."""
_OUTCOMES = ("yes", "partly", "chose-not-to", "fails-differently", "cannot", "unknown")
_FIRST_OUTCOMES = ("yes", "partly", "no", "unknown")
_FIRST_FIELDS: dict[str, type | tuple[type, ...]] = {
    "access_method": str,
    "title": str,
    "group": str,
    "order": int,
    "outcome": str,
    "message": str,
    "compared": str,
    "seconds": (int, float),
}
_FIELDS = _FIRST_FIELDS | {"statement": str, "sqlstate": str}


def parse(reading: Reading) -> Part:
    """Read expected.json and checks/NAME.json. Checks that did not run are the failure. Raises ParseError for damaged
    files."""
    answers, expected = _expected(_read(reading, "expected.json"))
    outcomes, fields = (_FIRST_OUTCOMES, _FIRST_FIELDS) if answers < ANSWERS else (_OUTCOMES, _FIELDS)
    done = [name for name in expected if f"checks/{name}.json" in reading.files]
    documents = tuple(
        Document("capability", name, _content(reading, name, outcomes, fields), node="primary") for name in done
    )
    missing = [name for name in expected if name not in done]
    return Part(
        measurements=_measurements(documents, outcomes),
        documents=documents,
        failure=_("Checks that did not run: {names}.", names=linked(COMMA, missing)) if missing else "",
    )


def _expected(content: Any) -> tuple[int, list[str]]:
    """Return (version of the outcomes, names of the checks). Version 1 of the file is the list of names alone."""
    answers, names = (1, content) if isinstance(content, list) else (ANSWERS, None)
    if isinstance(content, dict) and content.get("answers") == ANSWERS:
        names = content.get("checks")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ParseError(_("not a list of names"), file="expected.json", line=1, text=str(content))
    return answers, names


def _measurements(documents: tuple[Document, ...], outcomes: tuple[str, ...]) -> tuple[Measurement, ...]:
    counts = Counter(document.content["outcome"] for document in documents)
    totals = tuple(Measurement(metric_of(outcome), float(counts[outcome])) for outcome in outcomes)
    times = tuple(
        Measurement("check.seconds", float(document.content["seconds"]), label=document.label) for document in documents
    )
    return totals + times


def metric_of(outcome: str) -> str:
    """Return the metric that counts the checks of this outcome."""
    return f"capabilities.{outcome.replace('-', '_')}"


def _content(
    reading: Reading, name: str, outcomes: tuple[str, ...], fields: dict[str, type | tuple[type, ...]]
) -> dict[str, Any]:
    file = f"checks/{name}.json"
    content = _read(reading, file)
    if not isinstance(content, dict):
        raise ParseError(_("not the account of a check"), file=file, line=1, text=str(content))
    for field, kind in fields.items():
        if not isinstance(content.get(field), kind):
            what = _("no {field}, or not one of its type", field=field)
            raise ParseError(what, file=file, line=1, text=str(content))
    if content["outcome"] not in outcomes:
        raise ParseError(_("{outcome!r} is not an outcome", outcome=content["outcome"]), file=file, line=1)
    return content


def _read(reading: Reading, file: str) -> Any:
    text = reading.files.get(file)
    if text is None:
        raise ParseError(_("the file is not there"), file=file)
    try:
        return json_text.loads(text)
    except ValueError as error:
        raise ParseError(_("not JSON: {error}", error=str(error)), file=file, text=text) from None
