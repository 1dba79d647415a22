"""Stop where the gate is open, on the agent's own word."""

from __future__ import annotations

from workers.interfaces import Stage

_THROUGH = 'while [ -e "${1%/*}/gates/collect" ]; do sleep 0.1; done; echo through'


class Gated:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """There is nothing to start."""

    async def stop(self, stage: Stage, node: str) -> None:
        """Wait at the gate. Raises AgentError."""
        remote = stage.agents[node]
        answer = await remote.script(_THROUGH, remote.address.work_dir, timeout_s=600)
        stage.recorder.add(f"collectors/gated/{node}/answer.txt", answer.stdout)


COLLECTOR = Gated()
