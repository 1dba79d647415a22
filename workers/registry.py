"""Find every workload, topology and collector by walking folders: a new kind is one new folder.

The three folders are those beside this module, and the same three below each folder that the setting TEITEN_KINDS
names, for kinds that do not ship with Teiten. All kinds are imported as `workers.GROUP.NAME`.

Specs and parsers are pure and imported at once; the modules that act on agents only when they are used.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from django.conf import settings

from results.domain.errors import TeitenError
from results.domain.imports.values import Format, ImportedTrial, SourceFile
from results.domain.kinds.specs import Parse
from results.domain.measurement.metrics import Metric
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds
from workers.imports.reading import FORMATS, read_files

if TYPE_CHECKING:
    from workers.interfaces import Collector, Topology, Workload

GROUPS = ("workloads", "topologies", "collectors")
_HERE = Path(__file__).parent


@cache
def kinds() -> Kinds:
    """Return the specs of every kind, by name.

    Raises TeitenError for a kind whose name is not its folder's, and for two kinds of one name.
    """
    importlib.invalidate_caches()
    return Kinds(**{group: _specs(group) for group in GROUPS})


def known_metrics() -> list[Metric]:
    """Return every metric that a workload or collector measures. Two of the same name mean the same."""
    known = kinds()
    groups = [spec.metrics for spec in known.collectors.values()] + [spec.metrics for spec in known.workloads.values()]
    return [metric for group in groups for metric in group]


def import_metrics() -> list[Metric]:
    """Return every metric that results of other programs may have."""
    return [*known_metrics(), *(metric for one in FORMATS.values() for metric in one.metrics)]


def import_formats() -> Mapping[str, Format]:
    """Return the programs whose results can be imported, by name."""
    return FORMATS


def read_import(files: Sequence[SourceFile], name: str = "") -> tuple[Format, list[ImportedTrial]]:
    """Return the program whose output these files are, and a trial for each of its runs. Raises ImportedFileError.

    name: of the program; '' to recognise it."""
    return read_files(files, name)


def workload(name: str) -> Workload:
    return _module("workloads", name, "execute").WORKLOAD


def topology(name: str) -> Topology:
    return _module("topologies", name, "build").TOPOLOGY


def collector(name: str) -> Collector:
    return _module("collectors", name, "collect").COLLECTOR


def workload_parser(name: str) -> Parse:
    return _module("workloads", name, "parse").parse


def collector_parser(name: str) -> Parse:
    return _module("collectors", name, "parse").parse


def _specs(group: str) -> dict[str, Any]:
    specs: dict[str, Any] = {}
    folders: dict[str, str] = {}
    for folder in _package(group).__path__:
        for name in (module.name for module in pkgutil.iter_modules([folder]) if module.ispkg):
            if name in folders:
                raise TeitenError(
                    _("Two kinds are called {name!r}.", name=name),
                    where=folder,
                    why=_("The other one lies in {folder}.", folder=folders[name]),
                    todo=_("Rename the folder, and the spec in it."),
                )
            spec = import_module(f"workers.{group}.{name}.spec").SPEC
            if spec.name != name:
                raise TeitenError(
                    _("The spec's name is {name!r}, its folder's {folder!r}.", name=spec.name, folder=name),
                    where=f"{folder}/{name}",
                    todo=_("Give both the same name."),
                )
            specs[name], folders[name] = spec, folder
    return dict(sorted(specs.items()))


def _package(group: str) -> ModuleType:
    """Return the package of a group of kinds, which looks for them in the folders of TEITEN_KINDS too."""
    package = import_module(f"workers.{group}")
    package.__path__ = [str(_HERE / group), *(str(folder / group) for folder in settings.TEITEN_KINDS)]
    return package


def _module(group: str, name: str, part: str) -> ModuleType:
    """Import a part of a kind. Raises TeitenError for a name that no kind has: a plan or a bundle only ever chooses."""
    if name not in getattr(kinds(), group):
        raise TeitenError(
            _("This Teiten has no {name!r}.", name=name),
            where=f"workers/{group}",
            todo=_("Update Teiten, or the plan; a kind of your own lies below a folder of TEITEN_KINDS."),
        )
    return import_module(f"workers.{group}.{name}.{part}")
