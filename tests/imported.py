"""Files of other programs for tests: recorded ones, and requests that hand them in."""

from __future__ import annotations

from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile

from results import models
from results.domain.imports.values import SourceFile
from results.foreign_results import Draft, store
from workers.registry import read_import

FOLDER = Path(__file__).parent / "data" / "imports"
TABLE = "version,clients,rep,tps,avg latency\n16.4,8,1,1000,8.0\n16.4,8,2,1100,7.5\n17.2,8,1,1300,6.1\n"
COLUMNS = {
    "role.avg latency": "metric",
    "name.avg latency": "latency.mean",
    "unit.avg latency": "ms",
    "better.avg latency": "lower",
}


def recorded(*names: str) -> list[SourceFile]:
    return [SourceFile(name, (FOLDER / name).read_bytes()) for name in names]


def text_file(name: str, text: str, encoding: str = "utf-8") -> SourceFile:
    return SourceFile(name, text.encode(encoding))


def uploads(*files: SourceFile) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(file.name, file.content) for file in files]


def imported(*names: str) -> models.Publication:
    """An import of recorded files, in the warehouse; TEITEN_BUNDLE_DIR must be the test's own."""
    files = recorded(*(names or ("pgbench-15-c2.txt",)))
    chosen, trials = read_import(files)
    draft = Draft("From elsewhere", chosen.title, chosen.headline, tuple(files), tuple(trials))
    publication = store(draft, user=None, actor="tests").publication
    assert publication is not None
    return publication
