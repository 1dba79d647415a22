"""Has pgbench log its transactions, and folds the logs on the agent."""

from __future__ import annotations

from pathlib import Path

from results.errors import AgentError
from workers.interfaces import Stage

_HERE = Path(__file__).parent
_NO_LOG = 3  # fold.sh's exit status
_FOLD_LIMIT_S = 1800.0


class LatencyLog:
    """The collector of `workers.interfaces.Collector`. `stage.facts`: start sets latency_prefix, where a
    workload that runs pgbench lets it log; stop uses window and scripts, which that workload sets."""

    async def start(self, stage: Stage, node: str) -> None:
        """Makes the directory of the logs. Raises AgentError when there is no awk to fold them."""
        directory = _directory(stage)
        result = await stage.client.script('mkdir -p -- "$1" && command -v awk', directory, check=False)
        if result.exit_status != 0:
            raise AgentError(
                "the latency log needs awk",
                where=stage.client.address.name,
                why=result.stderr.strip() or "awk is not on the agent's PATH",
                todo="Install mawk or gawk on the agent.",
            )
        stage.facts["latency_prefix"] = f"{directory}/pgbench_log"

    async def stop(self, stage: Stage, node: str) -> None:
        """Folds all logs into folded.txt and removes them. A workload that wrote none costs a gap."""
        origin_s = _origin_s(stage)
        result = await stage.client.script(
            (_HERE / "fold.sh").read_text(),
            _directory(stage),
            f"{origin_s:.6f}",
            (_HERE / "fold.awk").read_text(),
            check=False,
            timeout_s=_FOLD_LIMIT_S,
        )
        if result.exit_status == 0:
            names = [f"script {number} {name}" for number, name in enumerate(stage.facts.get("scripts", ()))]
            text = "\n".join([f"origin {origin_s:.6f}", *names, result.stdout])
            stage.recorder.add(f"collectors/latency_log/{node}/folded.txt", text)
        elif result.exit_status == _NO_LOG:
            stage.recorder.gap("latency_log", node, "the workload wrote no transaction log")
        else:
            stage.recorder.gap("latency_log", node, f"the log could not be folded: {result.stderr.strip()}")


def _directory(stage: Stage) -> str:
    return f"{stage.job_dir(stage.client)}/latency"


def _origin_s(stage: Stage) -> float:
    """The measured window's start on the client's clock; 0 (whole epoch seconds) when the workload sets
    none."""
    window = stage.facts.get("window")
    return float(window[0]) + float(stage.facts.get("clock_offset_s", 0.0)) if window else 0.0


COLLECTOR = LatencyLog()
