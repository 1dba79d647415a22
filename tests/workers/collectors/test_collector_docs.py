"""Each collector's README says its metrics."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from workers import collectors


@pytest.mark.parametrize("name", ["latency_log", "perf", "perf_stat", "pg_stat", "pgpool", "replication", "sar"])
def test_every_metric_is_in_the_readme(name: str) -> None:
    spec = import_module(f"workers.collectors.{name}.spec").SPEC
    text = (Path(collectors.__path__[0]) / name / "README.md").read_text()
    assert [metric.name for metric in spec.metrics if f"| `{metric.name}` |" not in text] == []
