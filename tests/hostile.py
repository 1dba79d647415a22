"""Bundles that somebody changed by hand: a whole one as its files, to be changed and packed again with right sums."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from results.domain.matrix import InstallationRef, TrialSpec
from results.domain.measurement.parsed_trial import PhaseTiming
from results.domain.packing import pack
from tests import factories
from workers.bundle.manifest import FILE, Manifest, Node
from workers.workloads.pgbench.spec import SPEC as PGBENCH

_WINDOW = json.loads((factories.DATA / "pg_stat" / "16" / "window.json").read_text())
_SPEC = TrialSpec(
    workload="pgbench",
    parameters=PGBENCH.complete({}),
    topology="single",
    topology_parameters={},
    installation=InstallationRef("16", "/bin", "/bin", "16.14", 160014),
    agents={"client": "db1", "primary": "db1"},
    settings={},
    collectors=("pg_stat",),
)


def recorded() -> dict[str, bytes]:
    """The files of a trial: recorded output of pgbench, and of the collector of server statistics."""
    output = factories.DATA / "pgbench" / "16" / "tpcb-progress-per-statement"
    files = {f"workload/{name}": output.with_suffix(f".{name}").read_bytes() for name in ("stdout", "stderr")}
    files["workload/exit"] = b"0\n"
    for name in ("before.json", "after.json", "samples.txt", "sizes.json", "server.log"):
        files[f"collectors/pg_stat/primary/{name}"] = (factories.DATA / "pg_stat" / "16" / name).read_bytes()
    return files | {FILE: _manifest().to_json().encode()}


def _manifest() -> Manifest:
    return Manifest(
        trial_key="1/2",
        attempt=1,
        teiten="1.0.0",
        started_s=_WINDOW[0] - 5,
        ended_s=_WINDOW[1] + 1,
        spec=_SPEC.to_json(),
        window=(_WINDOW[0], _WINDOW[1]),
        nodes=(Node("client", "db1"), Node("primary", "db1")),
        collectors=(("pg_stat", "primary"),),
        phases=(PhaseTiming("prepare", 0, 1),),
    )


def manifest_of(files: dict[str, bytes]) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(files[FILE])
    return value


def packed(path: Path, files: dict[str, bytes], manifest: dict[str, Any] | str) -> Path:
    """Write the bundle of these files; unless the manifest is a text already, its list of files is made anew."""
    raw = {name: data for name, data in files.items() if name != FILE}
    if not isinstance(manifest, str):
        sums = [{"path": n, "size_bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for n, d in raw.items()]
        manifest = json.dumps(manifest | {"files": sums})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pack({FILE: manifest.encode(), **raw}))
    return path


def changed(path: Path, **changes: Any) -> Path:
    """Write the recorded bundle with other fields in its manifest, or in parts of it: `spec__workload="x"`."""
    files = recorded()
    manifest = manifest_of(files)
    for name, value in changes.items():
        *folders, field = name.split("__")
        place = manifest
        for folder in folders:
            place = place[folder]
        place[field] = value
    return packed(path, files, manifest)


def rewritten(path: Path, file: str, old: str, new: str) -> Path:
    """Write the recorded bundle with another text in one of its files."""
    files = recorded()
    text = files[file].decode()
    assert old in text
    files[file] = text.replace(old, new).encode()
    return packed(path, files, manifest_of(files))
