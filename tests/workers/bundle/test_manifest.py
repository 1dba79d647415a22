"""The manifest of a bundle: read as it was written, and refused in words that name the field."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from results.domain.environment.layers import Layer, LayerKind
from results.domain.errors import ParseError
from results.domain.measurement.parsed_trial import Check, CommandRun, Gap, LayerUse, PhaseTiming, RawFile
from results.domain.messages import Message
from results.domain.messages import gettext_lazy as _
from workers.bundle.manifest import Manifest, Node

MANIFEST = Manifest(
    trial_key="1/2",
    attempt=1,
    teiten="1.0",
    started_s=10.5,
    ended_s=60,
    spec={"duration_s": 30, "parameters": {"scale": 10, "script": "tpcb-like"}},
    window=(20, 50.25),
    nodes=(Node("client", "a"), Node("primary", "b", 0.001, 0.0005)),
    collectors=(("sar", "primary"),),
    phases=(PhaseTiming("measure", 9.5, 30.0),),
    commands=(CommandRun("client", "measure", "pgbench", None, 30.0), CommandRun("client", "measure", "true", 0, 0)),
    checks=(Check("role", "primary", "primary", "primary", True),),
    gaps=(Gap("sar", "primary", "too short"),),
    layers=(LayerUse("primary", Layer(LayerKind.HARDWARE, {"cpus": 2})),),
    files=(RawFile("workload/out", 3, "00ff"),),
    notes={"look": {"nodes": []}},
)


def test_a_manifest_of_more_values_than_are_read_is_refused() -> None:
    with pytest.raises(ParseError, match="cannot be read") as refused:
        Manifest.from_json(f'{{"version": 1, "notes": [{"[]," * 2_000_000}[]]}}')
    assert "more than 2,000,000 values" in refused.value.text


def test_it_is_read_as_it_was_written_and_written_the_same_again() -> None:
    text = MANIFEST.to_json()
    read = Manifest.from_json(text)
    assert read == MANIFEST
    assert read.to_json() == text
    assert '"ended_s": 60,' in text


def test_it_keeps_what_its_texts_for_people_were_made_of() -> None:
    reason = _("{what}: {error}", what="samples", error="exit 3")
    check = Check(_("setting {name}", name="work_mem"), "primary", "4MB", "4MB", True)
    text = replace(MANIFEST, gaps=(Gap("sar", "primary", reason),), checks=(check,)).to_json()
    read = Manifest.from_json(text)
    read_reason, name = read.gaps[0].reason, read.checks[0].name
    assert (read_reason, name) == ("samples: exit 3", "setting work_mem")
    assert isinstance(read_reason, Message)
    assert isinstance(name, Message)
    assert (read_reason.values, name.id) == (reason.values, "setting {name}")
    assert read.to_json() == text


@pytest.mark.parametrize("messages", ["junk", {"reason": {"id": "{a.x}", "values": {"a": "lost"}}}, [1]])
def test_what_others_wrote_beside_its_texts_does_no_harm(messages: object) -> None:
    content = json.loads(MANIFEST.to_json())
    content["gaps"] = [{"source": "sar", "node": "primary", "reason": "lost", "messages": messages}]
    assert Manifest.from_json(json.dumps(content)).gaps == (Gap("sar", "primary", "lost"),)


def test_an_attempt_that_was_never_measured_has_no_window() -> None:
    content = json.loads(MANIFEST.to_json()) | {"window": None, "error": {"kind": "trial"}}
    read = Manifest.from_json(json.dumps(content))
    assert (read.window, read.error) == (None, {"kind": "trial"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("attempt", "1", "attempt: '1' is not a whole number"),
        ("phases", [{"name": "measure", "offset_s": 0}], "phases[0].seconds: this field is missing"),
        ("files", [{"path": "a", "size_bytes": 1, "sha256": None}], "files[0].sha256: None is not text"),
        ("commands", {"node": "client"}, "commands: {'node': 'client'} is not a list"),
        ("layers", [{"node": "a", "layer": {"kind": "moon", "content": {}}}], "'moon' is not a valid LayerKind"),
        ("nodes", [{"role": "client", "agent": "a", "rack": 7}], "nodes[0]: there is no field rack"),
        ("window", [1], "window: Not enough values in [1]"),
        ("moon", 1, "there is no field moon"),
    ],
)
def test_a_field_that_is_wrong_is_named(name: str, value: Any, expected: str) -> None:
    content = json.loads(MANIFEST.to_json()) | {name: value}
    with pytest.raises(ParseError) as raised:
        Manifest.from_json(json.dumps(content))
    assert str(raised.value).startswith("manifest.json: A field of the manifest is missing or has the wrong type.")
    assert expected in raised.value.text


@pytest.mark.parametrize("name", ["trial_key", "window", "files", "layers"])
def test_a_field_that_is_missing_is_named(name: str) -> None:
    content = {key: value for key, value in json.loads(MANIFEST.to_json()).items() if key != name}
    with pytest.raises(ParseError) as raised:
        Manifest.from_json(json.dumps(content))
    assert raised.value.text == f"{name}: this field is missing"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{", "The manifest is not JSON"), ("[]", "is not of version 1"), ('{"version": 2}', "is not of version 1")],
)
def test_what_is_no_manifest_is_refused(text: str, expected: str) -> None:
    with pytest.raises(ParseError, match=expected):
        Manifest.from_json(text)


def test_a_script_that_names_a_password_is_parsed_as_it_was_run() -> None:
    text = "SELECT 1 FROM u, p WHERE u.password = p.password OR u.password = :pw"
    spec = {"parameters": {"text": text}, "settings": {"primary_conninfo": "host=a password=b"}}
    stored = json.loads(replace(MANIFEST, spec=spec).to_json())["spec"]
    assert stored == {"parameters": {"text": text}, "settings": {"primary_conninfo": "host=a password=(hidden)"}}
