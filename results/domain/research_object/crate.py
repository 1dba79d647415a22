"""The metadata of an exported run by RO-Crate 1.1, `ro-crate-metadata.json`, for programs that know nothing of Teiten.

https://www.researchobject.org/ro-crate/specification/1.1/
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.domain.research_object.facts import Facts

CRATE = "ro-crate-metadata.json"
_SPECIFICATION = "https://w3id.org/ro/crate/1.1"
# The context of 1.1 has no term for a checksum.
_CONTEXT = [f"{_SPECIFICATION}/context", {"sha256": "https://schema.org/sha256"}]
_LICENCE = "#licence"


@dataclass(frozen=True)
class CrateFile:
    """One file of the archive.

    name: its path there
    title: what it is, in words
    kind: its media type
    """

    name: str
    title: str
    kind: str
    size_bytes: int
    sha256: str


def crate(facts: Facts, title: str, workload: str, files: Sequence[CrateFile]) -> str:
    """Return the metadata of a run's archive as JSON-LD.

    files: all but this one
    """
    ended_at = facts.ended_at or facts.created_at
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": _SPECIFICATION},
            "about": {"@id": "./"},
        },
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"Benchmark run {facts.run}: {title}",
            "description": _description(facts, title, workload),
            "datePublished": ended_at.date().isoformat(),
            "license": {"@id": _LICENCE},
            "hasPart": [{"@id": file.name} for file in files],
            "mentions": [{"@id": "#run"}],
        },
        {
            "@id": _LICENCE,
            "@type": "CreativeWork",
            "name": "Not stated",
            "description": "Ask those who measured the run under which licence its results may be used.",
        },
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"Run {facts.run}",
            "startTime": (facts.started_at or facts.created_at).isoformat(),
            "endTime": ended_at.isoformat(),
            "instrument": {"@id": "#teiten"},
            "result": [{"@id": file.name} for file in files],
        },
        {
            "@id": "#teiten",
            "@type": "SoftwareApplication",
            "name": "Teiten",
            "softwareVersion": facts.teiten,
            **({"url": facts.address} if facts.address else {}),
        },
        *map(_file, files),
    ]
    return json.dumps({"@context": _CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False) + "\n"


def _description(facts: Facts, title: str, workload: str) -> str:
    return (
        f"{_origin(facts)}{title}: {len(facts.configurations)} configurations × {facts.blocks} replicates of the "
        f"workload {workload}, {len(facts.trials)} trials with the raw output of each attempt. "
        "plan.toml says what was run; manage.py import_run of Teiten reads the archive into another warehouse "
        "with the same numbers."
    )


def _origin(facts: Facts) -> str:
    if facts.origin is None:
        return ""
    place = f" at {facts.origin.address}" if facts.origin.address else ""
    return f"Another Teiten{place} measured this, as its run {facts.origin.run}. "


def _file(file: CrateFile) -> dict[str, Any]:
    return {
        "@id": file.name,
        "@type": "File",
        "name": file.title,
        "encodingFormat": file.kind,
        "contentSize": str(file.size_bytes),
        "sha256": file.sha256,
    }
