"""What the servers' logs in a bundle add to an error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from results.domain.errors import TrialError
from results.domain.failure_cause import cause
from results.domain.measurement.parsed_trial import Event, Part
from tests.workers.bundle.test_declared import SPEC
from workers import registry
from workers.bundle import reader
from workers.bundle.manifest import Manifest, Node
from workers.bundle.server_messages import GONE, crashes_since, with_gone_servers, with_server_message

STARTED_S = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()
SINCE_S = {"primary": STARTED_S}
ERROR = TrialError("The workload failed while it was measured.", why="pgbench ended with exit status 2").as_dict()
LOG = b"""2026-01-01 11:59:00.000 UTC [7] PANIC:  of an attempt before
2026-01-01 12:00:01.000 UTC [9] LOG:  starting PostgreSQL
2026-01-01 12:00:02.000 UTC [9] FATAL:  could not map anonymous shared memory: Cannot allocate memory
"""

ROLLED_BACK = b"2026-01-01 12:00:02.600 UTC [9] ERROR:  could not serialize access\n"
CRASHED = b"""2026-01-01 11:00:02.000 UTC [3] LOG:  server process (PID 5) was terminated by signal 9: Killed
--
2026-01-01 12:00:03.000 UTC [3] LOG:  server process (PID 7) was terminated by signal 11: Segmentation fault
2026-01-01 12:00:03.000 UTC [3] DETAIL:  Failed process was running: SELECT 1
"""


def test_the_log_saved_after_a_failure_names_the_cause_of_this_attempt() -> None:
    error = with_server_message(ERROR, [], {"server/primary.log": LOG, "server/notes.txt": LOG}, SINCE_S)
    assert error["server_log"] == "FATAL:  could not map anonymous shared memory: Cannot allocate memory"


def test_the_end_of_one_of_the_servers_processes_is_found_in_its_log() -> None:
    ended = b"LOG:  checkpointer process (PID 4711) was terminated by signal 6: Aborted"
    log = b"2026-01-01 12:00:01.000 UTC [9] LOG:  starting\n2026-01-01 12:00:02.000 UTC [9] " + ended
    assert with_server_message(ERROR, [], {"server/primary.log": log}, SINCE_S)["server_log"] == ended.decode()


def cause_by_logs(monkeypatch: pytest.MonkeyPatch, error: dict[str, Any] | None, events: Sequence[Event]) -> str:
    """What a trial is said to have failed for whose server rolled transactions back and crashed, or only the first."""
    part = Part(failure="pgbench was ended by SIGKILL", events=tuple(events))
    monkeypatch.setattr(registry, "workload_parser", lambda name: lambda reading: part)
    began_s, spec = STARTED_S, json.loads(json.dumps(SPEC.to_json()))
    window = None if error else (began_s + 4, began_s + 9)
    nodes = (Node("primary", "a", clock_offset_s=-1.0),)
    manifest = Manifest("1/1", 1, "1", began_s + 3.5, began_s + 10, spec, window, error, nodes)
    logs = {"server/primary.log": ROLLED_BACK, "server/primary.crashes.log": CRASHED if events else b""}
    return cause(reader.parse(manifest, logs).error)


def test_what_a_server_rolled_back_is_no_cause_of_a_program_that_was_ended_but_a_crash_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    serialization = Event(1.0, "primary", "error", "ERROR: could not serialize access")
    assert cause_by_logs(monkeypatch, None, []) == "pgbench was ended by SIGKILL"
    crashed = "server process (PID 7) was terminated by signal 11: Segmentation fault"
    assert cause_by_logs(monkeypatch, None, [serialization]) == crashed
    assert cause_by_logs(monkeypatch, ERROR, []) == "could not serialize access"


def test_of_the_crashes_that_a_log_tells_of_those_before_the_attempt_are_left_out() -> None:
    log = CRASHED.decode()
    assert crashes_since(log, STARTED_S - 7200) == log
    assert crashes_since(log, STARTED_S).startswith("2026-01-01 12:00:03.000 UTC [3] LOG:  server process (PID 7)")
    assert crashes_since(log, STARTED_S).endswith("DETAIL:  Failed process was running: SELECT 1\n")
    assert crashes_since(log, STARTED_S + 4) == ""


def test_an_event_of_the_measured_window_names_it_too() -> None:
    events = [Event(1.0, "primary", "checkpoint", "checkpoint starting"), Event(2.0, "primary", "error", "ERROR: full")]
    assert with_server_message(ERROR, events, {}, SINCE_S)["server_log"] == "ERROR: full"


def test_without_a_line_that_tells_the_error_stays_as_it_is() -> None:
    assert with_server_message(ERROR, [], {"server/primary.log": LOG[:120]}, SINCE_S) == ERROR
    cancelled = ERROR | {"kind": "cancelled"}
    assert with_server_message(cancelled, [], {"server/primary.log": LOG}, SINCE_S) == cancelled


def test_a_server_that_had_ended_is_named_first_with_the_end_of_its_log() -> None:
    notes = {GONE: {"primary": "LOG:  database system is ready to accept connections"}}
    error = with_gone_servers(ERROR, notes, {"primary": "db1"})
    gone = (
        "The server primary on agent db1 had ended, and not by Teiten. Its log ends with: LOG:  database system is "
        "ready to accept connections"
    )
    assert error["why"].splitlines() == [gone, "pgbench ended with exit status 2"]
    assert cause(error) == gone
    panic = error | {"server_log": "PANIC:  could not write to file: No space left on device"}
    assert cause(panic) == "could not write to file: No space left on device"


def test_servers_that_were_ended_on_purpose_or_run_are_not_named() -> None:
    notes = {GONE: {"primary": "LOG:  database system is shut down"}}
    cancelled = ERROR | {"kind": "cancelled"}
    assert with_gone_servers(cancelled, notes, {}) == cancelled
    assert with_gone_servers(ERROR, {}, {}) == ERROR
