"""The plans that EXPLAIN gave before the clock started → documents, JIT. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from results.domain import json_text
from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement import query_plans
from results.domain.measurement.parsed_trial import Document, Measurement
from results.domain.messages import gettext_lazy as _

from .messages import read_messages
from .transcript import read_transcript

_FOLDER = "explain/clients/1"
_JIT_STEPS = ("Generation", "Inlining", "Optimization", "Emission")


@dataclass(frozen=True)
class Plans:
    """The plans of the queries.

    content: query → EXPLAIN's answer.
    counted: workers of each EXPLAIN by the server's messages, in the same order; mostly empty (see `message_counts`).
    """

    content: dict[str, Any]
    counted: tuple[int, ...]


def read_plans(reading: Reading) -> Plans:
    """Read the plans; none where nothing was explained. Raises ParseError."""
    content = dict(explained(reading, f"{_FOLDER}.stdout", 1))
    return Plans(content, read_messages(reading.files.get(f"{_FOLDER}.stderr", "")).workers)


def explained(reading: Reading, file: str, client: int) -> Iterator[tuple[str, Any]]:
    """Yield (query, EXPLAIN's answer) of each execution of one client. Raises ParseError."""
    for execution in read_transcript(reading.files.get(file, ""), client, file).executions:
        text = "\n".join(execution.answer)
        try:
            yield execution.query, json_text.loads(text)
        except ValueError:
            raise ParseError(_("not a plan of {query}", query=execution.query), file=file, text=text) from None


def jit(plans: Plans) -> Iterator[Measurement]:
    """Yield the cost of JIT over all queries: nothing without EXPLAIN, 0 where nothing was compiled."""
    if not plans.content:
        return
    plans_read = [query_plans.read_plan(content) for content in plans.content.values()]
    steps = {step: sum(plan.jit.get(step, 0.0) for plan in plans_read) / 1000 for step in _JIT_STEPS}
    yield Measurement("ssb.jit.functions", sum(plan.jit_functions for plan in plans_read))
    yield Measurement("ssb.jit.seconds", sum(steps.values()))
    for step, seconds in steps.items():
        yield Measurement("ssb.jit.seconds", seconds, label=step.lower())


def plan_documents(plans: Plans) -> Iterator[Document]:
    for query, content in plans.content.items():
        yield Document("plan", query, content)
