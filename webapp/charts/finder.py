"""Finds plotly.min.js inside the installed plotly package, as `plotly/plotly.min.js`: nothing is committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

FILE = "plotly.min.js"
PREFIX = "plotly"


class PlotlyFinder(BaseFinder):
    def __init__(self, app_names: Iterable[str] | None = None, *args: Any, **kwargs: Any) -> None:
        spec = find_spec("plotly")
        assert spec is not None
        assert spec.submodule_search_locations
        self.storage = FileSystemStorage(Path(spec.submodule_search_locations[0]) / "package_data")
        self.storage.prefix = PREFIX  # type: ignore[attr-defined]  # collectstatic reads it

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        paths = [self.storage.path(FILE)] if path == f"{PREFIX}/{FILE}" else []
        return paths if find_all else next(iter(paths), [])

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield FILE, self.storage
