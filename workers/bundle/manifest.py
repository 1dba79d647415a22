"""The `manifest.json` of a bundle: what ran, where, when, and how it ended. Pure.

Times are epoch seconds by the worker's clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import ParseError
from results.domain.measurement.parsed_trial import Check, CommandRun, Gap, LayerUse, PhaseTiming, RawFile

FILE = "manifest.json"
VERSION = 1
# These are required lest a truncated manifest passes for a whole one: without files there are no checksums to verify.
_ALWAYS_WRITTEN = ("window", "nodes", "collectors", "phases", "commands", "checks", "gaps", "layers", "files")


@dataclass(frozen=True)
class Node:
    """A role of the trial and the agent that played it.

    role: `client`, `primary`, …
    clock_offset_s: the agent's clock minus the worker's, ± clock_error_s, in seconds
    """

    role: str
    agent: str
    clock_offset_s: float = 0.0
    clock_error_s: float = 0.0


@dataclass(frozen=True)
class Manifest:
    """What ran in one attempt, and how it ended.

    spec: `TrialSpec.to_json()`
    window: start and end of the measured time; None where it was never reached
    error: `TeitenError.as_dict()`; None where every phase succeeded
    collectors: (name, node) of each that ran
    """

    trial_key: str
    attempt: int
    teiten: str
    started_s: float
    ended_s: float
    spec: Mapping[str, Any]
    window: tuple[float, float] | None = None
    error: Mapping[str, Any] | None = None
    nodes: tuple[Node, ...] = ()
    collectors: tuple[tuple[str, str], ...] = ()
    phases: tuple[PhaseTiming, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    checks: tuple[Check, ...] = ()
    gaps: tuple[Gap, ...] = ()
    layers: tuple[LayerUse, ...] = ()
    files: tuple[RawFile, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    version: int = VERSION

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1, ensure_ascii=False, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Return the manifest that a JSON text holds. Raises ParseError where it is no manifest of this version."""
        try:
            value = json.loads(text)
        except json.JSONDecodeError as error:
            raise ParseError("The manifest is not JSON.", file=FILE, line=error.lineno, text=error.msg) from error
        if not isinstance(value, dict) or value.get("version") != VERSION:
            raise ParseError(f"The manifest is not of version {VERSION}.", file=FILE, text=text[:80])
        try:
            if missing := [name for name in _ALWAYS_WRITTEN if name not in value]:
                raise ShapeError(missing[0], "this field is missing")
            return from_json(cls, value)
        except ShapeError as error:
            raise ParseError(
                "A field of the manifest is missing or has the wrong type.", file=FILE, text=str(error)
            ) from error
