"""Runs the checks one after the other in clusters of their own on the primary's agent."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from results.domain.measurement.parsed_trial import Check
from workers.interfaces import Stage

from .access_method import AccessMethod, on_trial
from .capability import Capability
from .finding import chosen
from .outcome import Outcome, Verdict
from .parse import ANSWERS
from .runner import verdict_of
from .scratch import Scratch


class Capabilities:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Nothing: each check makes what it needs."""

    async def verify(self, stage: Stage) -> None:
        """Records which access method is on trial. Raises VerifyError where the server lacks it, for a name that no
        check has."""
        wanted = chosen(str(stage.spec.parameters["checks"]))
        method = await on_trial(stage)
        stage.keep(method)
        expected = stage.spec.access_method or method.name
        stage.recorder.check(Check("access method on trial", "primary", expected, method.name, method.name == expected))
        stage.recorder.note("checks", [check.name for check in wanted])

    async def warm_up(self, stage: Stage) -> None:
        """Nothing: no check is about speed."""

    async def measure(self, stage: Stage) -> None:
        """Every check, each recorded as soon as it is over. Raises AgentError when the agent is lost, TrialError when
        not even an empty cluster can be made."""
        parameters, checks = stage.spec.parameters, chosen(str(stage.spec.parameters["checks"]))
        expected = {"answers": ANSWERS, "checks": [check.name for check in checks]}
        stage.recorder.add("workload/expected.json", json.dumps(expected))
        offset_s = stage.clock_offset_s("client")
        began_s = time.time() + offset_s
        try:
            async with Scratch(stage, stage.kept(AccessMethod)) as scratch:
                for order, check in enumerate(checks):
                    since_s = time.monotonic()
                    verdict, said = await verdict_of(
                        check, scratch, int(parameters["rows"]), float(parameters["deadline"])
                    )
                    seconds = time.monotonic() - since_s
                    _record(stage, check, verdict, said, {"order": order, "seconds": round(seconds, 3)})
        finally:  # what was checked before it broke off is kept
            stage.measured(began_s, time.time() + offset_s)


def _record(stage: Stage, check: Capability, verdict: Verdict, said: str, more: Mapping[str, float]) -> None:
    content = {
        "access_method": stage.kept(AccessMethod).name,
        "title": check.title,
        "group": check.group,
        "outcome": verdict.outcome,
        "message": verdict.message,
        "compared": verdict.compared,
        "statement": verdict.statement,
        "sqlstate": verdict.sqlstate,
        **more,
    }
    stage.recorder.add(f"workload/checks/{check.name}.json", json.dumps(content, ensure_ascii=False, indent=1))
    if verdict.outcome is not Outcome.YES and said.strip():
        stage.recorder.add(f"workload/checks/{check.name}.log", said)


WORKLOAD = Capabilities()
