"""Metrics that only the output declares."""

from __future__ import annotations

import json
from typing import Any

import pytest

from results.domain.errors import IngestError
from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.measurement.metrics import Better, Metric
from results.domain.measurement.parsed_trial import Measurement, Part
from workers import registry
from workers.bundle import reader
from workers.bundle.manifest import Manifest

SPEC = TrialSpec(
    workload="pgbench",
    parameters={},
    topology="single",
    topology_parameters={},
    installation=InstallationRef("16", "/bin", "/bin", "16.9", 160009),
    agents={"client": "a", "primary": "a"},
    settings={},
)


def read(monkeypatch: pytest.MonkeyPatch, part: Part) -> Any:
    monkeypatch.setattr(registry, "workload_parser", lambda name: lambda reading: part)
    spec = json.loads(json.dumps(SPEC.to_json()))
    return reader.parse(Manifest("1/1", 1, "1", 0, 9, spec, window=(1, 2)), {})


def part_of(name: str) -> Part:
    metric = Metric(name, "rows", Better.HIGHER, "Rows")
    return Part(measurements=(Measurement(name, 3.0),), metrics=(metric,))


def test_the_output_may_declare_what_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = read(monkeypatch, part_of("own.rows"))
    assert [metric.unit for metric in parsed.metrics if metric.name == "own.rows"] == ["rows"]


def test_the_output_may_not_change_what_a_declared_name_means(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IngestError, match="tps, which a spec declares already"):
        read(monkeypatch, part_of("tps"))


def test_an_undeclared_metric_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IngestError, match=r"No spec declares own\.rows"):
        read(monkeypatch, Part(measurements=(Measurement("own.rows", 3.0),)))
