"""What the gated collector declares. Pure."""

from __future__ import annotations

from results.domain.kinds.specs import CollectorSpec

SPEC = CollectorSpec(
    name="gated",
    title="Gated",
    help="Stops once nobody holds it at its gate: the file collect in the folder gates beside the agent's folders.",
    on="client",
    metrics=(),
)
