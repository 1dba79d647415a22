"""Runs the thirteen queries: every client is one psql on the client's agent, in one session, with a sequence of its
own."""

from __future__ import annotations

from collections.abc import Mapping

from results.domain.errors import AgentError, VerifyError
from results.domain.kinds.parameters import Scalar
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.remote.job import Finished, Job

from . import counters
from .load import SESSIONS, Loader, environment, psql, read
from .sequence import QUERIES, counted_apart, counts_workers, sequence
from .verify import checks

QUERY_TEXT = {query: read(f"queries/{query}.sql") for query in QUERIES}
_EXPLAIN, _COUNT_WORKERS, _RUN = read("explain.sql"), read("count_workers.sql"), read("run.sh")
_END_S = 30.0
_RUN_CALL = "sh run.sh"
_TODO = _("Mend what the message names, then retry the trial.")


class StarSchema:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Raises VerifyError for what the plan asks and the server lacks, CommandError when a step fails."""
        _check_plan(stage)
        await Loader(stage, database).run()

    async def warm_up(self, stage: Stage) -> None:
        """Passes that do not count, each query's plan, and the workers that each query gets beside the other clients'.
        Raises CommandError with the server's own words when a query fails."""
        _check_plan(stage)
        await stage.primary.query(read("end_sessions.sql"), variables={"name": f"{SESSIONS}%"})
        parameters = stage.spec.parameters
        passes = int(parameters["warmup_passes"])
        if passes:
            scripts = [_script(parameters, client, passes) for client in _clients(parameters)]
            (await _run(stage, "warmup", scripts)).require(_("The warm-up"), _RUN_CALL, where="warm-up", todo=_TODO)
        if not parameters["explain"]:
            return
        (await _run(stage, "explain", [_script(parameters, 1, 1, _EXPLAIN)])).require(
            _("EXPLAIN of the queries"), _RUN_CALL, where="warm-up", todo=_TODO
        )
        if counted_apart(parameters):
            scripts = [_script(parameters, client, 1, _COUNT_WORKERS) for client in _clients(parameters)]
            (await _run(stage, "workers", scripts)).require(
                _("EXPLAIN of the queries by all clients"), _RUN_CALL, where="warm-up", todo=_TODO
            )

    async def verify(self, stage: Stage) -> None:
        """Record a Check of each table: rows, scale factor, seed and indexes, as the load left them in the
        catalogue."""
        for check in checks(
            stage.spec.parameters, await stage.primary.query(read("verify.sql"), database=stage.database)
        ):
            stage.recorder.check(check)

    async def start(self, stage: Stage) -> None:
        """The passes. Raises CommandError."""
        parameters = stage.spec.parameters
        scripts = [_script(parameters, client, int(parameters["passes"])) for client in _clients(parameters)]
        if counts_workers(parameters):
            await counters.begin(stage)
        await _start(stage, "", scripts)

    async def finish(self, stage: Stage) -> None:
        """Their end. A query that fails is no exception here: its client's files are recorded, and `parse` says so."""
        finished = await _finish(stage, "")
        stage.measured(finished.result.started_s, finished.result.ended_s)
        stage.recorder.add("workload/exit", f"{finished.result.exit_status}\n")
        if finished.result.timed_out:
            stage.recorder.add("workload/timed_out", "the deadline ended it\n")
        if finished.ok and counts_workers(stage.spec.parameters):
            await counters.end(stage)


def _clients(parameters: Mapping[str, Scalar]) -> range:
    return range(1, int(parameters["clients"]) + 1)


def _script(parameters: Mapping[str, Scalar], client: int, passes: int, before_each: str = "") -> str:
    """What one psql runs. A line '== pass query' goes before each answer, psql's own 'Time: …' and '== done' after it:
    psql tells the time of a query that failed, too, but stops there."""
    parts = ["\\timing on\n"]
    for number, query in sequence(parameters, client, passes):
        parts.append(f"\\echo == {number} {query}\n{before_each}{QUERY_TEXT[query]}\\echo == done\n")
    return "".join(parts)


async def _run(stage: Stage, name: str, scripts: list[str]) -> Finished:
    await _start(stage, name, scripts)
    return await _finish(stage, name)


async def _start(stage: Stage, name: str, scripts: list[str]) -> None:
    """Start one psql for each script, all at once.

    name: '' for what is timed
    """
    directory = _directory(stage, name)
    for number, script in enumerate(scripts, 1):
        await stage.client.put(f"{directory}/clients/{number}.sql", script)
    await stage.client.put(f"{directory}/run.sh", _RUN)
    argv = ["sh", f"{directory}/run.sh", psql(stage), stage.database, str(len(scripts))]
    await Job.start(
        stage.client,
        f"{directory}/job",
        argv,
        deadline_s=stage.left_s,
        env=environment(stage),
        cwd=f"{directory}/clients",
    )


async def _finish(stage: Stage, name: str) -> Finished:
    """Wait for the end of what `_start` started; what was printed is kept below workload/<name>."""
    directory = _directory(stage, name)
    try:
        finished = await Job.attach(stage.client, f"{directory}/job").finished()
    except BaseException:
        await _end_sessions(stage)
        raise
    folder = "/".join(filter(None, ("workload", name, "clients")))
    await stage.client.fetch_folder(
        f"{directory}/clients", lambda path: None if path.endswith(".pid") else stage.recorder.file(f"{folder}/{path}")
    )
    if not finished.ok:
        await _end_sessions(stage)
    return finished


def _directory(stage: Stage, name: str) -> str:
    return f"{stage.job_dir(stage.client)}/queries-{name or 'timed'}"


async def _end_sessions(stage: Stage) -> None:
    """Of this attempt alone, whoever has the server now."""
    variables = {"name": f"{SESSIONS}{stage.job_name}"}
    try:
        await stage.primary.query(read("end_sessions.sql"), variables=variables, timeout_s=_END_S)
    except AgentError as error:
        reason = _("sessions of broken-off queries could not be looked for: {error}", error=error.words)
        stage.recorder.gap("ssb", "primary", reason)


def _check_plan(stage: Stage) -> None:
    """What can be known before anything runs. Raises VerifyError."""
    if stage.spec.warmup_s > 0:
        raise VerifyError(
            _("The Star Schema Benchmark warms up by passes, not by time."),
            where="warmup_s",
            todo=_("Set warmup_s to 0 and the parameter warmup_passes."),
        )


WORKLOAD = StarSchema()
