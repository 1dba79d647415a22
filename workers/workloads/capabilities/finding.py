"""Find the checks by walking their folder: a new capability is a new module there."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from results.domain.errors import TeitenError, VerifyError
from results.domain.messages import gettext_lazy as _
from workers.workloads.capabilities.capability import Capability, Group

_FOLDER = "workers.workloads.capabilities.checks"


@cache
def all_checks() -> tuple[Capability, ...]:
    """Return every capability, by group, then title. Raises TeitenError for two with the same name."""
    package = import_module(_FOLDER)
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    checks = [check for name in modules for check in import_module(f"{_FOLDER}.{name}").CHECKS]
    names = [check.name for check in checks]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise TeitenError(_("Two checks are called {name}.", name=duplicates[0]), where=_FOLDER, todo=_("Rename one."))
    groups = list(Group)
    return tuple(sorted(checks, key=lambda check: (groups.index(check.group), check.title)))


def selected_checks(names: str) -> tuple[Capability, ...]:
    """Return the capabilities that the parameter `checks` lists; all for ''. Raises VerifyError for an unknown name."""
    requested = {name.strip() for name in names.split(",")} - {""}
    known = {check.name for check in all_checks()}
    if unknown := sorted(requested - known):
        raise VerifyError(
            _("There is no check {names}.", names=", ".join(unknown)),
            where="parameters.checks",
            todo=_("Choose from {names}.", names=", ".join(sorted(known))),
        )
    return tuple(check for check in all_checks() if not requested or check.name in requested)
