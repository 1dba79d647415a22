"""The line that says why a trial failed, in what tools and servers really print."""

from __future__ import annotations

from typing import Any

import pytest

from results.domain.errors import CommandError, DeadlineError, TrialError, VerifyError
from results.domain.failure_cause import LONGEST, cause, first_server_message, same_cause

SEGMENT = 'could not resize shared memory segment "/PostgreSQL.{}" to 16777216 bytes: No space left on device'


def workload(why: str, **more: Any) -> dict[str, Any]:
    return TrialError("The workload failed while it was measured.", where="measure", why=why).as_dict() | more


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        (
            "pgbench ended with exit status 2: pgbench: error: client 0 script 0 aborted in command 5 query 0: "
            f"ERROR:  {SEGMENT.format(7)}",
            SEGMENT.format(7),
        ),
        (
            'pgbench ended with exit status 1: pgbench: error: connection to server at "db1" failed: FATAL:  '
            "sorry, too many clients already",
            "sorry, too many clients already",
        ),
        (
            'pgbench ended with exit status 1: pgbench: error: invalid command "\\\\sett"',
            'invalid command "\\\\sett"',
        ),
        (
            "pgbench ended with exit status 137: no reason",
            "pgbench ended with exit status 137: no reason",
        ),
    ],
)
def test_the_tools_own_error_is_the_cause(why: str, expected: str) -> None:
    assert cause(workload(why)) == expected


def test_the_servers_log_tells_more_than_a_lost_connection() -> None:
    lost = "pgbench ended with exit status 2: pgbench: error: client 1 aborted in command 5 (SQL) of script 0; perhaps"
    panic = 'PANIC: could not write to file "pg_wal/xlogtemp.9": No space left on device'
    assert cause(workload(lost, server_log=panic)) == panic.removeprefix("PANIC: ")
    assert cause(workload(lost)).startswith("client 1 aborted in command 5")


def test_a_commands_error_is_looked_for_in_all_it_printed() -> None:
    error = CommandError(
        "psql failed.", command="psql", exit_status=3, stderr='psql:x.sql:1: ERROR:  relation "t" does not exist'
    )
    assert cause(error.as_dict()) == 'relation "t" does not exist'


def test_what_was_ended_on_purpose_is_not_explained_by_its_end() -> None:
    error = DeadlineError("The phase load took longer than 60 s.", why="FATAL:  terminating connection").as_dict()
    assert cause(error) == "The phase load took longer than 60 s. FATAL:  terminating connection"
    line = "ERROR:  canceling statement due to user request\nERROR:  disk full"
    assert cause(workload(line)) == "disk full"


def test_what_failed_by_itself_says_what_and_why() -> None:
    error = VerifyError("Something did not hold.", why="role on primary: expected primary, found standby")
    assert cause(error.as_dict()) == "Something did not hold. role on primary: expected primary, found standby"
    assert cause(None) == ""
    assert len(cause(workload("x" * 900))) == LONGEST


def test_a_panic_comes_before_what_it_caused() -> None:
    lines = [
        "FATAL: the database system is starting up",
        "ERROR: out of memory",
        "PANIC: could not fsync",
        "LOG: all is well",
    ]
    assert first_server_message(lines) == "PANIC: could not fsync"
    assert first_server_message(lines[:2]) == "ERROR: out of memory"
    assert first_server_message(lines[:1]) == ""


def test_a_process_of_the_server_that_a_signal_ended_comes_before_what_its_sessions_said() -> None:
    lines = [
        "ERROR:  could not serialize access due to concurrent update",
        "LOG:  server process (PID 4711) was terminated by signal 9: Killed",
        "LOG:  terminating any other active server processes",
        "LOG:  statement: SELECT 'was terminated by signal '",
    ]
    assert first_server_message(lines) == lines[1]
    assert first_server_message(lines[2:]) == ""
    full = ["ERROR:  disk full", 'ERROR:  there is no "CATALOG: x"']
    assert first_server_message(full) == full[0]
    lost = "pgbench ended with exit status 2: pgbench: error: client 1 aborted in command 5 (SQL) of script 0; perhaps"
    assert cause(workload(lost, server_log=lines[1])) == "server process (PID 4711) was terminated by signal 9: Killed"


def test_causes_that_differ_in_numbers_are_the_same() -> None:
    assert same_cause(SEGMENT.format(12)) == same_cause(SEGMENT.format(9876))
    assert same_cause("out of memory") != same_cause("disk full")
