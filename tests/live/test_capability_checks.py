"""The capability checks can fail: on a real server that is made to lie, crashes, hangs, or lacks what they need."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from results.domain.errors import VerifyError
from results.domain.matrix import InstallationRef, TrialSpec
from workers.bundle.writer import BundleWriter
from workers.interfaces import Stage
from workers.postgres import cluster
from workers.remote.connection import Remote
from workers.workloads.capabilities.access_method import AccessMethod, find_access_method
from workers.workloads.capabilities.capability import Capability, Group
from workers.workloads.capabilities.check_context import CheckContext
from workers.workloads.capabilities.finding import selected_checks
from workers.workloads.capabilities.outcome import NotTried, Outcome, Verdict
from workers.workloads.capabilities.runner import run_check
from workers.workloads.capabilities.scratch import Scratch

HEAP2 = AccessMethod("heap2", handler="heap_tableam_handler")
ROWS = 500


@pytest.fixture
async def stage(tmp_path: Path, remote: Remote, postgres_16: InstallationRef) -> Stage:
    spec = TrialSpec(
        workload="capabilities",
        parameters={},
        topology="single",
        topology_parameters={},
        installation=postgres_16,
        agents={"client": "live", "primary": "live"},
        settings={},
    )
    server = await cluster.ensure(remote, postgres_16)
    agents = {"client": remote, "primary": remote}
    return Stage(spec, agents, {"primary": server}, BundleWriter(tmp_path, "1/1", 1), "checks-1", "postgres")


@pytest.fixture
async def scratch(stage: Stage) -> AsyncIterator[Scratch]:
    async with Scratch(stage, HEAP2) as opened:
        yield opened


async def verdict(
    scratch: Scratch, check: str | Callable[[CheckContext], Awaitable[None]], deadline_s: float = 120
) -> Verdict:
    if not isinstance(check, str):
        capability = Capability("of_the_test", "Of the test", Group.STORAGE, check)
    else:
        (capability,) = selected_checks(check)
    return (await run_check(capability, scratch, ROWS, deadline_s))[0]


async def in_every_database(scratch: Scratch, sql: str, role: str = "shared") -> None:
    """Whatever is made in template1 is in the databases of the checks."""
    server = await scratch.server(role)
    await server.execute(sql, database="template1")


async def left_behind(remote: Remote) -> str:
    """Scratch clusters, and processes that work in one."""
    script = "ls \"$1\" | grep -F +scratch+; find /proc -maxdepth 2 -name cwd -lname '*+scratch+*' 2>/dev/null"
    listing = await remote.script(script, f"{remote.address.data_dir}/clusters", check=False)
    return listing.stdout


LOSES_A_ROW = """
CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    CREATE TRIGGER lose BEFORE INSERT ON items FOR EACH ROW WHEN (new.id = 7) EXECUTE FUNCTION lose();
END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lie();
"""
IGNORES_FILLFACTOR = """
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF to_regclass('half_pages') IS NOT NULL THEN
        ALTER TABLE half_pages RESET (fillfactor);
    END IF;
END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lie();
"""
LETS_NOTHING_BE_CLUSTERED = """
CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'CLUSTER is not implemented'; END $$;
CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION refuse();
"""
IS_UNLOGGED = """
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ALTER TABLE items SET UNLOGGED; END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lie();
"""
FAILS_WITH_XX000 = """
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'unexpected chunk number' USING ERRCODE = 'XX000'; END $$;
CREATE FUNCTION fail_later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('transaction_isolation') = 'repeatable read' THEN
        RAISE EXCEPTION 'unexpected chunk number' USING ERRCODE = 'XX000';
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    CREATE TRIGGER fail BEFORE INSERT ON items FOR EACH ROW WHEN (new.word = 'b') EXECUTE FUNCTION fail();
    CREATE TRIGGER later BEFORE UPDATE ON items FOR EACH STATEMENT EXECUTE FUNCTION fail_later();
END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lie();
"""
HAS_NO_PARALLEL_PLAN = "ALTER FUNCTION pg_catalog.int4eq(int, int) PARALLEL UNSAFE;"
ASKS_FOR_NO_WORKERS = """
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN ALTER TABLE items SET (parallel_workers = 0); END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION lie();
"""
HIDES_THE_INDEX = """
CREATE FUNCTION lie() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'chosen'::regclass; END $$;
CREATE EVENT TRIGGER lie ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION lie();
"""
STORES_ELSEWHERE = "ALTER ROLE teiten SET default_table_access_method = 'heap';"


@pytest.mark.parametrize(
    ("lie", "check", "outcome", "message"),
    [
        (
            LOSES_A_ROW,
            "vacuum",
            Outcome.CANNOT,
            r"rows came back: expected 5000 rows, found 4999; 1 missing, such as \(7,7,",
        ),
        (IGNORES_FILLFACTOR, "fillfactor", Outcome.PARTLY, "Accepted and ignored: .* bytes at fillfactor 100"),
        (LETS_NOTHING_BE_CLUSTERED, "cluster", Outcome.CANNOT, "ERROR:  CLUSTER is not implemented"),
        (STORES_ELSEWHERE, "savepoints", Outcome.CANNOT, "The table items is stored by heap, not by heap2"),
    ],
    ids=["a row is lost", "fillfactor is ignored", "a statement is refused", "another access method"],
)
async def test_a_server_that_lies_is_found_out(
    scratch: Scratch, lie: str, check: str, outcome: Outcome, message: str
) -> None:
    await in_every_database(scratch, lie)
    judged = await verdict(scratch, check)
    assert judged.outcome == outcome, judged
    assert re.search(message, judged.message), judged.message


async def test_a_refusal_is_kept_with_its_statement_and_sqlstate(scratch: Scratch) -> None:
    await in_every_database(scratch, LETS_NOTHING_BE_CLUSTERED)
    judged = await verdict(scratch, "cluster")
    assert (judged.outcome, judged.sqlstate) == (Outcome.CANNOT, "P0001")
    assert judged.statement == "CREATE INDEX items_id ON items (id);"
    assert judged.message.startswith("ERROR:  CLUSTER is not implemented\n")


async def test_other_contents_are_kept_with_the_query_that_gave_them(scratch: Scratch) -> None:
    await in_every_database(scratch, LOSES_A_ROW)
    judged = await verdict(scratch, "vacuum")
    assert (judged.statement, judged.sqlstate) == ("SELECT t::text FROM items AS t;", "")


@pytest.mark.parametrize(
    ("check", "statement", "due"),
    [
        ("on_conflict", "INSERT INTO items VALUES (1, 1, 'a'), (1, 1, 'b') ON CONFLICT (id)", "21000"),
        ("snapshots", "UPDATE items SET part = part + 10 WHERE id = 1;", "40001"),
    ],
)
async def test_another_sqlstate_than_is_due_fails_differently_and_the_check_goes_on(
    scratch: Scratch, check: str, statement: str, due: str
) -> None:
    await in_every_database(scratch, FAILS_WITH_XX000)
    judged = await verdict(scratch, check)
    assert (judged.outcome, judged.sqlstate) == (Outcome.FAILS_DIFFERENTLY, "XX000"), judged
    assert judged.statement.startswith(statement)
    assert f"with SQLSTATE XX000, where {due} is due: ERROR:  unexpected chunk number" in judged.message
    last = {"on_conflict": "after two sessions met at one key", "snapshots": "after the older transaction's update"}
    assert last[check] in judged.compared


async def test_a_planner_that_takes_no_parallel_plan_even_by_force_chose_not_to(scratch: Scratch) -> None:
    await in_every_database(scratch, HAS_NO_PARALLEL_PLAN)
    judged = await verdict(scratch, "parallel_query")
    assert judged.outcome == Outcome.CHOSE_NOT_TO, judged
    assert judged.message.endswith("the table asks for them and they are forced: Seq Scan on items.")
    assert judged.statement.startswith("ALTER TABLE items SET (parallel_workers = 2);\nSET ")
    assert judged.statement.splitlines()[-1] == "EXPLAIN SELECT t::text FROM items AS t WHERE part = 3"
    assert "a part of the rows: 500 rows; counts and sums: 10 rows" in judged.compared


async def test_workers_are_forced_before_the_planner_is_said_to_have_chosen(scratch: Scratch) -> None:
    await in_every_database(scratch, ASKS_FOR_NO_WORKERS)
    judged = await verdict(scratch, "parallel_query")
    assert (judged.outcome, judged.statement) == (Outcome.YES, ""), judged
    assert judged.message == "Only where the table itself asks for parallel_workers. 2 of 2 workers."


async def test_an_index_that_the_planner_leaves_aside_is_no_refusal(scratch: Scratch) -> None:
    await in_every_database(scratch, HIDES_THE_INDEX)
    judged = await verdict(scratch, "index_hash")
    assert judged.outcome == Outcome.CHOSE_NOT_TO, judged
    words = "The planner does not use the index chosen, though all other plans are disabled: Seq Scan on things."
    assert judged.message.startswith(words)
    assert judged.statement == "EXPLAIN SELECT id || ' ' || word FROM things WHERE word = md5('77');"
    assert "all rows" in judged.compared


async def test_rows_that_a_crash_costs_are_missed(scratch: Scratch) -> None:
    await in_every_database(scratch, IS_UNLOGGED, "crash_recovery")
    judged = await verdict(scratch, "crash_recovery")
    assert judged.outcome == Outcome.CANNOT
    assert judged.message.startswith("After recovery: expected 550 rows, found 0; 550 missing, such as (")


@pytest.mark.parametrize(
    ("check", "settings", "message"),
    [
        ("streaming", {"max_wal_senders": "0"}, "pg_basebackup failed: .*max_wal_senders"),
        ("logical", {"wal_level": "replica"}, "ERROR:  logical decoding requires"),
    ],
)
async def test_a_server_that_cannot_replicate_says_no(
    scratch: Scratch, check: str, settings: dict[str, str], message: str
) -> None:
    (capability,) = selected_checks(check)
    judged, log = await run_check(replace(capability, settings=settings), scratch, ROWS, 120)
    assert judged.outcome == Outcome.CANNOT
    assert re.search(message, judged.message, re.DOTALL), judged.message
    assert log


# as on a busy machine: the session is gone before the postmaster comes to say why
CRASH = """
postmaster=$(head -n 1 "$1/postmaster.pid")
kill -s STOP "$postmaster" && kill -s SEGV "$2"
(sleep 1; kill -s CONT "$postmaster") >/dev/null 2>&1 &
"""


async def test_a_server_that_crashes_says_no_and_costs_no_other_check(scratch: Scratch) -> None:
    async def crashes(context: CheckContext) -> None:
        backend = asyncio.ensure_future(context.database.run("SELECT pg_sleep(600)"))
        asking = "SELECT pid IS NOT NULL FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"
        await context.database.until(f"SELECT EXISTS ({asking})", "nothing slept")
        pid = await context.database.run(asking.replace("pid IS NOT NULL", "pid"))
        await context.scratch.remote.script(CRASH, context.database.server.data_dir, pid.strip())
        await backend

    judged = await verdict(scratch, crashes)
    assert judged.outcome == Outcome.CANNOT
    assert "was terminated by signal 11: Segmentation fault" in judged.message
    assert "pg_sleep(600)" in judged.message
    assert judged.statement == "SELECT pg_sleep(600)"
    assert (await verdict(scratch, "savepoints")).outcome == Outcome.YES


async def test_a_server_that_something_else_kills_says_nothing_of_the_access_method(scratch: Scratch) -> None:
    async def is_killed(context: CheckContext) -> None:
        pid = await context.scratch.remote.run("head", "-n", "1", f"{context.database.server.data_dir}/postmaster.pid")
        sleeping = asyncio.ensure_future(context.database.run("SELECT pg_sleep(600)"))
        await context.database.until(
            "SELECT count(*) > 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep'", "nothing slept"
        )
        await context.scratch.remote.run("kill", "-s", "KILL", pid.stdout.strip())
        await sleeping

    judged = await verdict(scratch, is_killed)
    assert judged.outcome == Outcome.UNKNOWN
    assert "server closed the connection unexpectedly" in judged.message
    assert (await verdict(scratch, "savepoints")).outcome == Outcome.YES
    await (await scratch.server("shared")).stop("immediate")
    assert (await verdict(scratch, "savepoints")).outcome == Outcome.YES


async def test_a_check_that_hangs_is_given_up_and_costs_no_other(scratch: Scratch) -> None:
    async def hangs(context: CheckContext) -> None:
        await context.fill()
        await context.database.run("BEGIN; LOCK items; SELECT pg_sleep(600);")

    judged = await verdict(scratch, hangs, deadline_s=1.5)
    assert (judged.outcome, judged.message) == (Outcome.UNKNOWN, "It did not end within 1.5 s.")
    assert (await verdict(scratch, "savepoints")).outcome == Outcome.YES


async def test_what_is_not_there_is_named_and_is_no_no(scratch: Scratch) -> None:
    async def needs(context: CheckContext) -> None:
        with pytest.raises(NotTried, match="There is no pg_nothing in /"):
            await context.program("pg_nothing")
        await context.extension("no_such_extension")

    judged = await verdict(scratch, needs)
    assert judged == Verdict(Outcome.UNKNOWN, "The installation has no extension no_such_extension.")


async def test_nothing_is_left_behind_even_when_it_is_cancelled(stage: Stage, remote: Remote) -> None:
    at_work = asyncio.Event()

    async def waits(context: CheckContext) -> None:
        at_work.set()
        await context.database.run("SELECT pg_sleep(600)")

    async def trial() -> None:
        async with Scratch(stage, HEAP2) as scratch:
            await verdict(scratch, waits)

    running = asyncio.ensure_future(trial())
    await at_work.wait()
    assert "+scratch+checks-1-shared-" in await left_behind(remote)
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running
    assert await left_behind(remote) == ""


async def test_clusters_of_a_dead_attempt_are_removed_by_the_next(stage: Stage, remote: Remote) -> None:
    dead = Scratch(stage, HEAP2)
    await dead.server("shared")
    stage.job_name = "checks-2"
    async with Scratch(stage, HEAP2):
        assert await left_behind(remote) == ""


async def test_an_access_method_that_the_server_lacks_fails_before_anything_is_checked(stage: Stage) -> None:
    stage.spec = TrialSpec.from_json(stage.spec.to_json() | {"access_method": "zheap"})
    with pytest.raises(VerifyError, match="has no table access method zheap"):
        await find_access_method(stage)
