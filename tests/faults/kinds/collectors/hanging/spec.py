"""What the hanging collector declares. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec

SPEC = CollectorSpec(
    name="hanging", title="Hanging", help="Never stops: a command on the agent waits for ever.", on="client", metrics=()
)
