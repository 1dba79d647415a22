"""Environments for tests, made of what was recorded: a machine's facts, and the settings of real servers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from results import models
from results.agents import store_layers
from results.domain.environment.layers import Layer, LayerKind, environment_hash
from results.environments import store_environments
from workers.postgres import settings
from workers.remote.facts_parse import parse_facts

DATA = Path(__file__).parent / "data"
FACTS = (DATA / "facts" / "debian-12-virtual.txt").read_text()
VERSIONS = {11: ("11.22", 110022), 16: ("16.14", 160014), 18: ("18.4", 180004)}
Use = tuple[str, Layer]


def layers(
    major: int = 16, *, facts: Mapping[str, str] | None = None, rows: Mapping[str, str] | None = None, **changes: Any
) -> list[Use]:
    """The layers of a trial on one machine.

    facts: texts to replace in what the machine said.
    rows: settings as a plan sets them, in the server's own units.
    changes: `build`, `client`, `data`, `topology`: keys that are otherwise; `initdb`."""
    text = FACTS
    for old, new in (facts or {}).items():
        assert old in text
        text = text.replace(old, new)
    version, number = VERSIONS[major]
    configure = [f"--prefix=/opt/{version}", "CFLAGS=-O2"]
    build = {"name": f"pg{major}", "version": version, "version_num": number, "configure": configure, "jit": False}
    in_force = server(major, rows or {})
    return [
        *(("primary", layer) for layer in parse_facts(text).layers),
        ("primary", Layer(LayerKind.BUILD, build | {"initdb": []} | changes.get("build", {}))),
        ("primary", settings.layer(in_force)),
        ("primary", settings.defaults_layer(in_force)),
        ("primary", Layer(LayerKind.ACCESS_METHOD, {"access_method": "heap"})),
        ("primary", Layer(LayerKind.TOPOLOGY, {"name": "single", "connection": "auto"} | changes.get("topology", {}))),
        ("primary", Layer(LayerKind.DATA, {"workload": "pgbench", "scale": 10} | changes.get("data", {}))),
        (
            "client",
            Layer(
                LayerKind.CLIENT,
                {"threads_rule": 1, "bin": "/opt/18.4/bin", "version": "18.4", "agents": 1} | changes.get("client", {}),
            ),
        ),
        ("client", Layer(LayerKind.TOOL, {"teiten": "1.0.0"})),
    ]


def server(major: int, rows: Mapping[str, str]) -> dict[str, settings.Setting]:
    """Every setting in force of a real server on its defaults, but for those that `rows` sets."""
    recorded = json.loads((DATA / "settings" / f"{major}.json").read_text())
    return settings.from_rows(
        [
            row | ({"setting": rows[row["name"]], "source": "configuration file"} if row["name"] in rows else {})
            for row in recorded
        ]
    )


def ran_in(attempt: models.Attempt, uses: Sequence[Use]) -> None:
    """As if the attempt had run in these layers and no others."""
    store_layers([layer for _, layer in uses])
    attempt.environment = set_environment(attempt.pk, [(node, layer.hash) for node, layer in uses])


def set_environment(attempt_id: int, uses: Collection[tuple[str, str]]) -> str:
    """As if an attempt had run in these layers alone, (role, hash), which are stored. Return its environment."""
    store_environments([uses])
    environment = environment_hash(uses) if uses else ""
    models.Attempt.objects.filter(pk=attempt_id).update(environment=environment)
    return environment


def replace_layers(attempts: Iterable[models.Attempt], **layers: Use) -> None:
    """As if these attempts had run in other layers of some kinds: kind → (role, layer)."""
    store_layers([layer for _, layer in layers.values()])
    others = [(node, layer.hash) for node, layer in layers.values()]
    for attempt in attempts:
        kept = attempt.layer_uses.exclude(layer__kind__in=layers).values_list("node", "layer_id")
        set_environment(attempt.pk, [*kept, *others])


def run_in_versions(run: models.Run, **by_major: Sequence[Use]) -> None:
    """Every finished trial of the run in the layers of its version;

    by_major: others for 'v16' or 'v18'."""
    for trial in done(run):
        major = trial.configuration.dimensions["major"]
        assert trial.attempt is not None
        ran_in(trial.attempt, by_major[f"v{major}"] if f"v{major}" in by_major else layers(int(major)))


def done(run: models.Run) -> Iterable[models.Trial]:
    return run.trials.filter(state="done").select_related("configuration", "attempt").order_by("position")


def of_each_version(run: models.Run) -> tuple[int, int]:
    """A finished trial of 16 and one of 18, both with one client."""
    of = {t.configuration.dimensions["major"]: t.pk for t in done(run) if t.configuration.dimensions["clients"] == 1}
    return of["16"], of["18"]
