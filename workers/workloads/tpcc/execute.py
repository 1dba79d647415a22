"""Loads the data, runs the five transactions by pgbench, and checks the consistency conditions before and after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from results.domain.errors import AgentError
from results.domain.kinds.parameters import Scalar
from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench import parameters as pgbench_parameters
from workers.pgbench import run
from workers.pgbench.run import ScriptFile
from workers.remote.job import Finished, Job

from . import loading
from .consistency import CONDITIONS, read_conditions
from .nurand import constants
from .spec import MIX
from .versions import check_version

_HERE = Path(__file__).parent
_ISOLATION, _VERIFY, _COUNTS = ((_HERE / f"{name}.sql").read_text() for name in ("isolation", "verify", "counts"))
_SCRIPTS = [ScriptFile(name, (_HERE / "scripts" / f"{name}.sql").read_text(), weight) for name, weight in MIX.items()]
_ANSWER = (_HERE / "conditions" / "answer.sql").read_text()
CONDITIONS_SQL = "\n".join((_HERE / "conditions" / f"{number}.sql").read_text() + _ANSWER for number in CONDITIONS)
_NAMES = 1000
_FOREIGN_KEYS = 10
_PRIMARY_KEYS = 8


@dataclass(frozen=True)
class CountsBefore:
    """What the data says was done before the run: name → number."""

    counts: Mapping[str, int | float]


class Tpcc:
    """The workload of `workers.interfaces.Workload`, audited."""

    async def load(self, stage: Stage, database: str) -> None:
        """The initial population. Raises VerifyError for what the versions lack, CommandError in psql's own words."""
        await _check_version(stage)
        await loading.load(stage, database)

    async def warm_up(self, stage: Stage) -> None:
        """Set the isolation level, record a Check for each consistency condition (before the caches may be emptied),
        then runs the load for `warmup_s`. Raises CommandError in psql's or pgbench's own words."""
        await _check_version(stage)
        values = {"database": stage.database, "isolation": str(stage.spec.parameters["isolation"])}
        await stage.primary.execute(_ISOLATION, variables=values)
        await _check_consistency(stage)
        if stage.spec.warmup_s > 0:
            by_time = {**stage.spec.parameters, "transactions": 0}
            await run.warm_up(stage, await _arguments(stage, by_time, stage.spec.warmup_s))

    async def verify(self, stage: Stage) -> None:
        """Record a Check for each property of the loaded data, and for the isolation level. Raises CommandError."""
        parameters = stage.spec.parameters
        rows = await stage.primary.query(
            _VERIFY,
            database=stage.database,
            variables={"warehouses": str(parameters["warehouses"])},
        )
        for name, expected in _expected(parameters).items():
            actual = rows[0][name]
            stage.recorder.check(Check(f"tpcc.{name}", "primary", str(expected), str(actual), actual == expected))

    async def start(self, stage: Stage) -> None:
        """Count what the data says was done before, then start the run. Raises CommandError."""
        arguments = await _arguments(stage, stage.spec.parameters, stage.spec.duration_s)
        stage.keep(CountsBefore(await _counts(stage)))
        await run.start(stage, arguments, list(MIX))

    async def finish(self, stage: Stage) -> None:
        """The run's end, and the same count after it."""
        await run.finish(stage)
        counts = {"before": stage.kept(CountsBefore).counts}
        try:
            counts["after"] = await _counts(stage)
        except AgentError as error:
            stage.recorder.add("workload/uncounted", str(error))
        stage.recorder.add("workload/counts.json", json.dumps(counts, indent=1, sort_keys=True))

    async def audit(self, stage: Stage) -> None:
        """The consistency conditions. What can no longer be asked is recorded in the server's words, and `parse` says
        that the trial failed."""
        try:
            finished = await _conditions(stage, "after")
        except AgentError as error:
            stage.recorder.add("workload/unchecked", str(error))
            return
        if finished.ok:
            stage.recorder.add("workload/conditions", finished.stdout)
        else:
            stage.recorder.add("workload/unchecked", finished.stderr.strip() or _("The queries did not end in time."))


async def _check_version(stage: Stage) -> None:
    spec, client = stage.spec, await run.client_version(stage)
    check_version(spec.parameters, spec.access_method, client, spec.installation.version_num)


async def _arguments(stage: Stage, parameters: Mapping[str, Scalar], duration_s: float) -> list[str]:
    chosen = constants(int(parameters["data_seed"]))
    customers = int(parameters["customers_per_district"])
    variables = {
        "warehouses": int(parameters["warehouses"]),
        "customers": customers,
        "names": min(_NAMES, customers),
        "items": int(parameters["items"]),
        "home_random": int(parameters["home"] == "random"),
        "c_last": chosen.last_name_run,
        "c_customer": chosen.customer,
        "c_item": chosen.item,
    }
    client = await run.client_version(stage)
    return [
        *pgbench_parameters.run_arguments(parameters, threads=stage.spec.threads, duration_s=duration_s, client=client),
        *(word for name, value in variables.items() for word in ("-D", f"{name}={value}")),
        *await run.put_scripts(stage, _SCRIPTS),
    ]


async def _counts(stage: Stage) -> Mapping[str, int | float]:
    return (await stage.primary.query(_COUNTS, database=stage.database))[0]


async def _check_consistency(stage: Stage) -> None:
    finished = await _conditions(stage, "before")
    finished.require("psql", "the consistency conditions", where="warm", todo=_("Retry the trial."))
    for condition in read_conditions(finished.stdout, "the conditions before the run"):
        check = Check(f"tpcc.condition {condition.number}", "primary", _("holds"), str(condition), condition.holds)
        stage.recorder.check(check)


async def _conditions(stage: Stage, when: str) -> Finished:
    """Run the queries in a detached job: with many warehouses it takes its time."""
    directory = f"{stage.job_dir(stage.client)}/conditions-{when}"
    await stage.client.put(f"{directory}/conditions.sql", CONDITIONS_SQL)
    options = stage.primary.psql(stage.database)[1:]
    argv = [f"{stage.client_bin}/psql", *options, "-f", f"{directory}/conditions.sql"]
    env = stage.primary.environment()
    return await (await Job.start(stage.client, directory, argv, deadline_s=stage.left_s, env=env)).finished()


def _expected(parameters: Mapping[str, Scalar]) -> dict[str, int | str]:
    warehouses, customers = int(parameters["warehouses"]), int(parameters["customers_per_district"])
    return {
        "warehouses": warehouses,
        "districts": 10 * warehouses,
        "customers_of_the_first_district": customers,
        "customers_of_the_last_district": customers,
        "items": int(parameters["items"]),
        "stock_of_the_last_warehouse": int(parameters["items"]),
        "primary_keys": _PRIMARY_KEYS,
        "foreign_keys": _FOREIGN_KEYS if parameters["foreign_keys"] else 0,
        "isolation": str(parameters["isolation"]),
    }


WORKLOAD = Tpcc()
