"""Versions of pgbench and PostgreSQL, and the features that came with them. Pure."""

from __future__ import annotations

import re

from results.domain.errors import VerifyError
from results.domain.messages import gettext_lazy as _

FIRST_WITH_BUILTIN_NAMES = 90600
FIRST_WITH_LOG_PREFIX = 100000
FIRST_WITH_ACCESS_METHODS = 120000
FIRST_WITH_USER_TIMEOUT = 120000
FIRST_WITH_DETAILED_FAILURES = 150000


def pgbench_version_num(text: str) -> int:
    """Return the number of a version: 'pgbench (PostgreSQL) 12beta1' → 120000; '… 9.5.25' → 90525; '… 16.14' → 160014.

    Raises ValueError.
    """
    match = re.search(r"\(PostgreSQL\)\s+(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(_("{answer!r} is not the answer of pgbench --version", answer=text.strip()))
    first, second, third = (int(part or 0) for part in match.groups())
    return first * 10000 + second if first >= 10 else first * 10000 + second * 100 + third


def version_name(number: int) -> str:
    """Return the version of a number: 160014 → '16.14'; 90525 → '9.5.25'; 90600 → '9.6'; 150000 → '15'."""
    if number >= 100000:
        parts = [number // 10000, number % 10000]
    else:
        parts = [number // 10000, number // 100 % 100, number % 100]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return ".".join(str(part) for part in parts)


def major(number: int) -> str:
    """Return the major version of a number: 160014 → '16'; 90525 → '9.5'."""
    return str(number // 10000) if number >= 100000 else version_name(number // 100 * 100)


def require(where: str, program: str, version: int, since: int) -> None:
    """Raise VerifyError where a program ('pgbench', 'PostgreSQL') is older than the plan's field `where` requires."""
    if version < since:
        raise VerifyError(
            _("{program} {version} cannot do this", program=program, version=version_name(version)),
            where=where,
            why=_("It came with version {version}.", version=version_name(since)),
            todo=_("Leave the parameter at its default, or exclude this version from the plan."),
        )
