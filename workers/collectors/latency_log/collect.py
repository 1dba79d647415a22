"""Have pgbench log its transactions, and fold the logs on the agent."""

from __future__ import annotations

from pathlib import Path

from results.domain.errors import AgentError
from results.domain.matrix import Load
from results.domain.messages import gettext_lazy as _
from workers.interfaces import Stage
from workers.pgbench.run import folder_of, latency_directory

_HERE = Path(__file__).parent
_NO_LOG = 3  # fold.sh's exit status
_FOLD_LIMIT_S = 1800.0


class LatencyLog:
    """The collector of `workers.interfaces.Collector`, for every client of the trial.

    `start` sets `stage.logs_transactions`, by which `workers.pgbench.run` has pgbench log; `stop` uses `window_s` and
    `script_names`, which the workload sets. Each load has a log of its own.
    """

    async def start(self, stage: Stage, node: str) -> None:
        """Create the directories of the logs. Raises AgentError when the agent has no awk to fold them."""
        for load in stage.loads:
            client = stage.agents[load.client]
            result = await client.script(
                'mkdir -p -- "$1" && command -v awk', latency_directory(stage, load), check=False
            )
            if result.exit_status != 0:
                raise AgentError(
                    _("The latency log needs awk."),
                    where=client.address.name,
                    why=result.stderr.strip() or _("awk is not on the PATH."),
                    todo=_("Install mawk or gawk on the agent."),
                )
        stage.logs_transactions = True

    async def stop(self, stage: Stage, node: str) -> None:
        """Fold each load's log into folded.txt. A workload that wrote none leaves a Gap."""
        for load in stage.loads:
            await _fold(stage, load, node)


async def _fold(stage: Stage, load: Load, node: str) -> None:
    origin_s = _origin_s(stage, load)
    target = stage.recorder.file(f"{folder_of(stage, load, f'collectors/latency_log/{node}')}/folded.txt")
    names = [f"script {number} {name}" for number, name in enumerate(stage.script_names)]
    headings = names if load.workload else ["beside select-only"]
    result = await stage.agents[load.client].script(
        (_HERE / "fold.sh").read_text(),
        latency_directory(stage, load),
        f"{origin_s:.6f}",
        (_HERE / "fold.awk").read_text(),
        "\n".join([f"origin {origin_s:.6f}", *headings]),
        check=False,
        timeout_s=_FOLD_LIMIT_S,
        into=target,
    )
    if result.exit_status == 0:
        return
    target.unlink()
    if result.exit_status == _NO_LOG:
        stage.recorder.gap("latency_log", node, _("the workload wrote no transaction log"))
    else:
        stage.recorder.gap("latency_log", node, _("the log could not be folded: {error}", error=result.stderr.strip()))


def _origin_s(stage: Stage, load: Load) -> float:
    """Return the measured window's start on the client's clock; 0 (the epoch) where the workload sets no window."""
    return stage.window_s[0] + stage.clock_offset_s(load.client) if stage.window_s else 0.0


COLLECTOR = LatencyLog()
