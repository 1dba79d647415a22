"""Counts by psql, as one detached job on the client's agent."""

from __future__ import annotations

from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage
from workers.remote.job import Job

_FILL = "CREATE TABLE counted AS SELECT generate_series(1, :'rows'::int) AS number;"
_COUNT = "SELECT count(*) FROM counted;"


class Counted:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Raises CommandError with the server's words."""
        await stage.primary.execute(_FILL, database=database, variables={"rows": str(stage.spec.parameters["rows"])})

    async def verify(self, stage: Stage) -> None:
        rows = str(stage.spec.parameters["rows"])
        actual = (await stage.primary.execute(_COUNT, database=stage.database)).strip()
        stage.recorder.check(Check("rows", "primary", rows, actual, actual == rows))

    async def warm_up(self, stage: Stage) -> None:
        """Nothing: the check has read the table."""

    async def measure(self, stage: Stage) -> None:
        psql = [f"{stage.client_bin}/psql", *stage.primary.psql(stage.database)[1:]]
        counts = [word for _ in range(int(stage.spec.parameters["times"])) for word in ("-c", _COUNT)]
        job = await Job.start(
            stage.client,
            f"{stage.job_dir(stage.client)}/counts",
            [*psql, *counts],
            deadline_s=stage.left_s,
            env=stage.environment(stage.loads[0]),
        )
        finished = await job.finished()
        stage.measured(finished.result.started_s, finished.result.ended_s)
        stage.recorder.add("workload/counts.txt", finished.stdout)
        stage.recorder.add("workload/stderr.txt", finished.stderr)


WORKLOAD = Counted()
