"""The README says every parameter and metric."""

from __future__ import annotations

from pathlib import Path

from workers.workloads import ssb
from workers.workloads.ssb.spec import SPEC


def test_every_parameter_and_metric_is_in_the_readme() -> None:
    text = (Path(ssb.__file__).parent / "README.md").read_text()
    names = [*(p.name for p in SPEC.parameters), *(m.name for m in SPEC.metrics)]
    assert [name for name in names if f"| `{name}` |" not in text] == []
