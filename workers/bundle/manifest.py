"""The `manifest.json` of a bundle: what ran, where, when, and how it ended. Pure.

Times are epoch seconds by the worker's clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import ParseError
from results.domain.json_text import first_problem, readable, require_bounded, too_deep
from results.domain.measurement.activity import ActivitySample
from results.domain.measurement.parsed_trial import Check, CommandRun, Gap, LayerUse, PhaseTiming, RawFile
from results.domain.measurement.record_texts import holder_to_json, holder_with_messages
from results.domain.messages import gettext_lazy as _
from results.domain.secrets import masked_spec, masked_values

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


# the notes of Teiten itself that are read again; what kinds note they read themselves, all others are only kept
_NOTES: Mapping[str, Any] = {"look": ActivitySample, "window": tuple[float, float], "servers_gone": Mapping[str, str]}
# the fields of `TeitenError.as_dict()` of all errors, and what a bundle's reader adds; others are only kept
_OF_ERRORS: Mapping[str, Any] = dict.fromkeys(
    (
        "kind",
        "what",
        "where",
        "why",
        "todo",
        "agent",
        "fingerprint",
        "command",
        "stdout",
        "stderr",
        "host",
        "server_log",
        "server_gone",
    ),
    str,
) | {"retryable": bool, "unreachable": bool, "exit_status": int | None, "messages": Mapping[str, Any]}
_OF_OTHER_PROGRAMS = ("imported", "published")  # notes of attempts that have no bundle


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
        """Return the manifest as it is stored: without secrets. Parsers read the specification: it is as it was planned
        but for passwords, which plans may not hold."""
        value = masked_values(holder_to_json(self)) | {"spec": masked_spec(self.spec)}
        return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Return the manifest that a JSON text holds. Raises ParseError where it is no manifest of this version, with
        the field that is wrong."""
        value = _json(text)
        if not isinstance(value, dict) or isinstance(value.get("version"), bool) or value.get("version") != VERSION:
            raise ParseError(_("The manifest is not of version {version}.", version=VERSION), file=FILE, text=text[:80])
        if problem := first_problem(value):
            raise _wrong(": ".join(filter(None, problem)))
        try:
            if missing := [name for name in _ALWAYS_WRITTEN if name not in value]:
                raise ShapeError(missing[0], "this field is missing")
            return from_json(cls, holder_with_messages(value))
        except ShapeError as error:
            raise _wrong(str(error)) from error


def _json(text: str) -> Any:
    """Return a JSON text's value, of which numbers may be infinite: their fields are named later."""
    try:
        require_bounded(text)
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ParseError(_("The manifest is not JSON."), file=FILE, line=error.lineno, text=error.msg) from error
    except (ValueError, RecursionError) as error:
        why = str(too_deep()) if isinstance(error, RecursionError) else str(error)
        raise ParseError(_("The manifest cannot be read."), file=FILE, text=why) from None


def _wrong(why: str) -> ParseError:
    what = _("A field of the manifest is missing or has the wrong type.")
    return ParseError(what, file=FILE, text=readable(why))


def require_known_notes(notes: Mapping[str, Any]) -> None:
    """Raise ParseError where a note that is read again has another shape than the one that it is written in."""
    for name in _OF_OTHER_PROGRAMS:
        if name in notes:
            raise _wrong(f"notes.{name}: no trial of Teiten notes that")
    _require_kinds(notes, _NOTES, "notes")


def require_known_error(error: Mapping[str, Any]) -> None:
    """Raise ParseError where a field of the attempt's error is of another type than Teiten writes."""
    _require_kinds(error, _OF_ERRORS, "error")


def _require_kinds(fields: Mapping[str, Any], kinds: Mapping[str, Any], place: str) -> None:
    for name, kind in kinds.items():
        if name in fields:
            try:
                ActivitySample.from_json(fields[name]) if kind is ActivitySample else from_json(kind, fields[name])
            except ShapeError as error:
                where = ".".join(filter(None, (place, name, error.path)))
                raise _wrong(f"{where}: {error.what}") from error
