"""Run the checks one after the other, in clusters of their own on the primary's agent."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from results.domain.measurement.parsed_trial import Check
from results.domain.messages import gettext_lazy as _
from results.domain.stored_texts import made_of
from workers.interfaces import Stage

from .access_method import AccessMethod, find_access_method
from .capability import Capability
from .finding import selected_checks
from .outcome import Outcome, Verdict
from .parse import ANSWERS
from .runner import run_check
from .scratch import Scratch


class Capabilities:
    """The workload of `workers.interfaces.Workload`."""

    async def load(self, stage: Stage, database: str) -> None:
        """Do nothing: each check creates what it needs."""

    async def verify(self, stage: Stage) -> None:
        """Record the access method on trial. Raises VerifyError where it is missing, and for unknown checks."""
        checks = selected_checks(str(stage.spec.parameters["checks"]))
        method = await find_access_method(stage)
        stage.keep(method)
        expected = stage.spec.access_method or method.name
        name = _("access method on trial")
        stage.recorder.check(Check(name, "primary", expected, method.name, method.name == expected))
        stage.recorder.note("checks", [check.name for check in checks])

    async def warm_up(self, stage: Stage) -> None:
        """Do nothing: no check is about speed."""

    async def measure(self, stage: Stage) -> None:
        """Run every check, and record each as soon as it ends. Raises AgentError when the agent is lost, TrialError
        when not even an empty cluster can be created."""
        parameters, checks = stage.spec.parameters, selected_checks(str(stage.spec.parameters["checks"]))
        expected = {"answers": ANSWERS, "checks": [check.name for check in checks]}
        stage.recorder.add("workload/expected.json", json.dumps(expected))
        offset_s = stage.clock_offset_s("client")
        began_s = time.time() + offset_s
        try:
            async with Scratch(stage, stage.kept(AccessMethod)) as scratch:
                for order, check in enumerate(checks):
                    since_s = time.monotonic()
                    verdict, log_text = await run_check(
                        check, scratch, int(parameters["rows"]), float(parameters["deadline"])
                    )
                    seconds = time.monotonic() - since_s
                    _record(stage, check, verdict, log_text, {"order": order, "seconds": round(seconds, 3)})
        finally:  # what was checked before it broke off is kept
            stage.measured(began_s, time.time() + offset_s)


def _record(stage: Stage, check: Capability, verdict: Verdict, log_text: str, timing: Mapping[str, float]) -> None:
    content = {
        "access_method": stage.kept(AccessMethod).name,
        "title": check.title,
        "group": check.group,
        "outcome": verdict.outcome,
        "message": verdict.message,
        "compared": verdict.compared,
        "statement": verdict.statement,
        "sqlstate": verdict.sqlstate,
        **timing,
    }
    content |= made_of(content)
    stage.recorder.add(f"workload/checks/{check.name}.json", json.dumps(content, ensure_ascii=False, indent=1))
    if verdict.outcome is not Outcome.YES and log_text.strip():
        stage.recorder.add(f"workload/checks/{check.name}.log", log_text)


WORKLOAD = Capabilities()
