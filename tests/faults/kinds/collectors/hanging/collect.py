"""Start nothing, and wait for ever."""

from __future__ import annotations

from workers.interfaces import Stage


class Hanging:
    """The collector of `workers.interfaces.Collector`."""

    async def start(self, stage: Stage, node: str) -> None:
        """There is nothing to start."""

    async def stop(self, stage: Stage, node: str) -> None:
        """Wait on the agent for what never comes."""
        await stage.agents[node].script("while :; do sleep 1; done", timeout_s=None)


COLLECTOR = Hanging()
