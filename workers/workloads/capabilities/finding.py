"""Finds the checks by walking their folder: a new capability is one new module in there."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from results.domain.errors import TeitenError, VerifyError
from workers.workloads.capabilities.capability import Capability, Group

_FOLDER = "workers.workloads.capabilities.checks"


@cache
def all_checks() -> tuple[Capability, ...]:
    """Every capability, by group, then title. Raises TeitenError for two of one name."""
    package = import_module(_FOLDER)
    modules = sorted(found.name for found in pkgutil.iter_modules(package.__path__))
    checks = [check for name in modules for check in import_module(f"{_FOLDER}.{name}").CHECKS]
    names = [check.name for check in checks]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TeitenError(f"Two checks are called {twice[0]}.", where=_FOLDER, todo="Rename one.")
    groups = list(Group)
    return tuple(sorted(checks, key=lambda check: (groups.index(check.group), check.title)))


def chosen(names: str) -> tuple[Capability, ...]:
    """Those that the parameter `checks` names; all for ''. Raises VerifyError for a name that there is not."""
    wanted = {name.strip() for name in names.split(",")} - {""}
    known = {check.name for check in all_checks()}
    if strange := sorted(wanted - known):
        raise VerifyError(
            f"There is no check {', '.join(strange)}.",
            where="parameters.checks",
            todo=f"There are {', '.join(sorted(known))}.",
        )
    return tuple(check for check in all_checks() if not wanted or check.name in wanted)
