"""Run the steps of a profile one after the other, each as a detached job on the client, and keep a protocol."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from results.domain.errors import CommandError
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import made_of
from workers.interfaces import Stage
from workers.pgbench.version import FIRST_WITH_ACCESS_METHODS
from workers.postgres import database
from workers.remote.job import Finished, Job

from . import outcome
from .outcome import Outcome, Verdict
from .steps import Kind, Sizes, Step, steps

_SQL = Path(__file__).parent / "sql"
_STATISTICS = (_SQL / "50_statistics.sql").read_text()
_STATISTICS_S, _POLL_S = 20.0, 0.1


def directory_of(stage: Stage) -> str:
    """On the client: the SQL of the steps, and the rows to copy."""
    return f"{stage.job_dir(stage.client)}/steps"


class Driver:
    """The run of one profile.

    tables: that exist.
    caches: cold, restarted or as-found, before the steps that depend on them.
    """

    def __init__(self, stage: Stage, *, tables: Collection[str], caches: str) -> None:
        self.stage, self.caches = stage, caches
        self.parameters = stage.spec.parameters
        self.steps = steps(self.parameters, heap_baseline="wide_heap" in tables)
        self.sizes = Sizes.of(self.parameters)
        self.done: set[str] = set()
        self.protocol: list[dict[str, Any]] = []
        self.started_s: float | None = None

    async def run(self) -> None:
        """Run every step until one fails. Set the measured window from the first job to the last."""
        try:
            for step in self.steps:
                verdict = await self._step(step)
                if verdict.outcome is Outcome.DONE:
                    self.done.add(step.name)
                elif verdict.outcome is Outcome.FAILED:
                    break
        finally:
            self.stage.recorder.add("workload/steps.json", json.dumps(self.protocol, indent=1))

    async def _step(self, step: Step) -> Verdict:
        missing = [need for need in step.needs if need not in self.done]
        if missing:
            why = _("It needs '{step}', which was not done.", step=missing[0])
            return self._note(step, Verdict(Outcome.SKIPPED, why))
        if step.kind is Kind.STATISTICS:
            return self._note(step, await self._statistics(step))
        if step.cold:
            await self._empty_caches()
        argv = self._argv(step)
        finished = await self._job(argv, self._options(step))
        result = finished.result
        self.started_s = result.started_s if self.started_s is None else self.started_s
        self.stage.measured(self.started_s, result.ended_s)
        self._record(finished.stdout, finished.stderr)
        verdict = await self._verdict(step, finished)
        if step.must and verdict.outcome is Outcome.REFUSED:
            verdict = Verdict(Outcome.FAILED, verdict.why)
        return self._note(step, verdict, argv=argv, started_s=result.started_s, ended_s=result.ended_s)

    async def _empty_caches(self) -> None:
        if self.caches == "cold":
            await database.cold(self.stage.primary)
        elif self.caches == "restarted":
            await self.stage.primary.stop()
            await self.stage.primary.start()

    async def _verdict(self, step: Step, finished: Finished) -> Verdict:
        status, timed_out = finished.result.exit_status, finished.result.timed_out
        verdict = outcome.of_psql(status, finished.stderr, timed_out=timed_out)
        if verdict.outcome is Outcome.DONE and step.kind is Kind.PLAN:
            return outcome.by_index(json.loads(finished.stdout)[0])
        if verdict.outcome is Outcome.FAILED and step.kind is Kind.LATENCY and not timed_out:
            again = await self._by_psql(step)
            return again if again.outcome is Outcome.REFUSED else verdict
        return verdict

    async def _by_psql(self, step: Step) -> Verdict:
        """Run a script's statements once by psql, which unlike pgbench prints the SQLSTATE: it tells a refusal from a
        failure."""
        lines = (_SQL / step.file).read_text().splitlines()
        statements = "\n".join(line for line in lines if not line.startswith("\\"))
        result = await self.stage.client.run(
            *self._psql(), stdin=statements, env=self.stage.primary.environment(), check=False, timeout_s=600
        )
        return outcome.of_psql(result.exit_status, result.stderr)

    async def _statistics(self, step: Step) -> Verdict:
        """Read the server's counters once they hold every update: sessions report theirs only at their end."""
        table, expected = step.variables["table"], self._updates(step.variables["table"])
        until = time.monotonic() + _STATISTICS_S
        while True:
            try:
                rows = await self.stage.primary.query(
                    _STATISTICS, database=self.stage.database, variables={"table": table}
                )
            except CommandError as error:
                return Verdict(Outcome.FAILED, error.words)
            counted = int(rows[0]["n_tup_upd"]) if rows else 0
            if counted >= expected:
                self._record(json.dumps(rows[0]), "")
                return Verdict(Outcome.DONE)
            if time.monotonic() > until:
                why = _(
                    "The server counts {counted} of {expected} updates of {table}.",
                    counted=counted,
                    expected=expected,
                    table=table,
                )
                return Verdict(Outcome.REFUSED, why)
            await asyncio.sleep(_POLL_S)

    def _updates(self, table: str) -> int:
        if table == "grown":
            return self.sizes.updates
        rows, ranges = int(self.parameters["row_repetitions"]), int(self.parameters["range_repetitions"])
        return rows * ("update row" in self.done) + ranges * self.sizes.range_rows * ("update range" in self.done)

    def _argv(self, step: Step) -> list[str]:
        if step.kind is Kind.FILL:
            return [self._pgbench(), "-i", "-q", "-I", "dtgp", "-s", str(self.sizes.scale), self.stage.database]
        if step.kind not in (Kind.LATENCY, Kind.TPCB):
            words = [word for name, value in step.variables.items() for word in ("-v", f"{name}={value}")]
            return [*self._psql(), *words, "-f", step.file]
        seed = f"--random-seed={self.parameters['seed']}"
        argv = [self._pgbench(), "-n", "-c", "1", "-j", "1", "-r", seed]
        if step.kind is Kind.TPCB:
            return [*argv, "-T", str(max(1, math.ceil(self.stage.spec.duration_s))), self.stage.database]
        defined = [word for name, value in self.sizes.variables.items() for word in ("-D", f"{name}={value}")]
        return [*argv, "-t", str(step.times), *defined, "-f", step.file, self.stage.database]

    def _psql(self) -> list[str]:
        words = [f"{self.stage.client_bin}/psql", *self.stage.primary.psql(self.stage.database)[1:]]
        variables = {"VERBOSITY": "verbose", **self.sizes.variables}
        return [*words, *(word for name, value in variables.items() for word in ("-v", f"{name}={value}"))]

    def _pgbench(self) -> str:
        return f"{self.stage.client_bin}/pgbench"

    def _options(self, step: Step) -> dict[str, str]:
        """PGOPTIONS, where the session is not the server's default one."""
        spec = self.stage.spec
        if step.kind in (Kind.PLAN, Kind.LATENCY):
            return {"PGOPTIONS": "-c enable_seqscan=off"}
        chooses = spec.access_method and spec.installation.version_num >= FIRST_WITH_ACCESS_METHODS
        if step.kind is Kind.FILL and chooses:
            return {"PGOPTIONS": f"-c default_table_access_method={spec.access_method}"}
        return {}

    async def _job(self, argv: Sequence[str], options: dict[str, str]) -> Finished:
        job = await Job.start(
            self.stage.client,
            f"{self.stage.job_dir(self.stage.client)}/step-{len(self.protocol):03d}",
            argv,
            deadline_s=self.stage.left_s,
            env={**self.stage.primary.environment(), "LC_ALL": "C", **options},
            cwd=directory_of(self.stage),
        )
        return await job.finished()

    def _record(self, stdout: str, stderr: str) -> None:
        folder = f"workload/{len(self.protocol):03d}"
        self.stage.recorder.add(f"{folder}/stdout", stdout)
        self.stage.recorder.add(f"{folder}/stderr", stderr)

    def _note(self, step: Step, verdict: Verdict, **more: Any) -> Verdict:
        caches = {"caches": self.caches} if step.cold else {}
        values = [[value.metric, value.label, value.statement] for value in step.values]
        entry = {"step": step.name, "kind": step.kind, "times": step.times, "values": values, **caches, **more}
        why = {"why": verdict.why}
        self.protocol.append({**entry, "outcome": verdict.outcome, **why, **made_of(why)})
        return verdict
