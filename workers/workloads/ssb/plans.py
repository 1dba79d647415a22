"""The plans that EXPLAIN gave before the clock started → documents, JIT. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from results.domain.errors import ParseError
from results.domain.kinds.specs import Reading
from results.domain.measurement import query_plans
from results.domain.measurement.parsed_trial import Document, Measurement

from .messages import read_messages
from .transcript import read_transcript

_FOLDER = "explain/clients/1"
_JIT_STEPS = ("Generation", "Inlining", "Optimization", "Emission")


@dataclass(frozen=True)
class Plans:
    """content: query → EXPLAIN's answer. counted: the workers of each EXPLAIN as the server told its client, in the
    same order; empty where it was not asked to (see `told`)."""

    content: dict[str, Any]
    counted: tuple[int, ...]


def read_plans(reading: Reading) -> Plans:
    """Empty where nothing was explained. Raises ParseError."""
    content = dict(explained(reading, f"{_FOLDER}.stdout", 1))
    return Plans(content, read_messages(reading.files.get(f"{_FOLDER}.stderr", "")).workers)


def explained(reading: Reading, file: str, client: int) -> Iterator[tuple[str, Any]]:
    """(query, EXPLAIN's answer) of each execution of one client. Raises ParseError."""
    for execution in read_transcript(reading.files.get(file, ""), client, file).executions:
        text = "\n".join(execution.answer)
        try:
            yield execution.query, json.loads(text)
        except ValueError:
            raise ParseError(f"not a plan of {execution.query}", file=file, text=text) from None


def jit(plans: Plans) -> Iterator[Measurement]:
    """What compiling cost, over all queries. Nothing where nothing was explained; 0 where nothing was compiled."""
    if not plans.content:
        return
    read = [query_plans.read_plan(content) for content in plans.content.values()]
    steps = {step: sum(plan.jit.get(step, 0.0) for plan in read) / 1000 for step in _JIT_STEPS}
    yield Measurement("ssb.jit.functions", sum(plan.jit_functions for plan in read))
    yield Measurement("ssb.jit.seconds", sum(steps.values()))
    for step, seconds in steps.items():
        yield Measurement("ssb.jit.seconds", seconds, label=step.lower())


def plan_documents(plans: Plans) -> Iterator[Document]:
    for query, content in plans.content.items():
        yield Document("plan", query, content)
