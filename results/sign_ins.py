"""Signing in: failures are in the audit log, and too many of them keep an account or an address waiting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet

from results.models import AuditEntry
from results.models.audit import acting_address

WINDOW = timedelta(minutes=15)
FAILED, SIGNED_IN = "fail to sign in", "sign in"
NOBODY = "account unknown"  # a name that is none may be a password in the wrong field: it is not stored


@dataclass(frozen=True)
class Limit:
    """How many failures within WINDOW are let pass.

    why: whose they are, in words"""

    failures: int
    why: str


OF_ACCOUNT_HERE = Limit(5, "of this account from your address")
OF_ADDRESS = Limit(20, "from your address")
# High enough that nobody can lock an account by failing for it from a few places.
OF_ACCOUNT = Limit(100, "of this account")


@dataclass(frozen=True)
class Wait:
    """What keeps somebody waiting.

    seconds: until the next try"""

    seconds: int
    limit: Limit


def wait_for(name: str, now: datetime) -> Wait | None:
    """Return what keeps the address that acts from signing in by this name now; None where nothing does."""
    waits = [wait for failures, limit in _failures(name, now) if (wait := _wait(failures, limit, now))]
    return max(waits, key=lambda wait: wait.seconds, default=None)


def note_failure(name: str) -> None:
    """File a wrong name or password in the audit log, with the address that acts."""
    AuditEntry.objects.create(actor="anonymous", verb=FAILED, object=_account(name))


def note_sign_in(user: User) -> None:
    AuditEntry.objects.create(actor=user.get_username(), verb=SIGNED_IN, object=_account(user.get_username()))


def _account(name: str) -> str:
    known = User.objects.filter(username=name).exists()
    return f"account {name}" if known else NOBODY


def _failures(name: str, now: datetime) -> Iterator[tuple[QuerySet[AuditEntry], Limit]]:
    recent = AuditEntry.objects.filter(verb=FAILED, at__gt=now - WINDOW).order_by("-at")
    here = recent.filter(address=acting_address())
    yield here, OF_ADDRESS
    account = _account(name)
    if account != NOBODY:
        yield here.filter(object=account), OF_ACCOUNT_HERE
        yield recent.filter(object=account), OF_ACCOUNT


def _wait(failures: QuerySet[AuditEntry], limit: Limit, now: datetime) -> Wait | None:
    """A try is free when the oldest of the last so many failures is out of the window."""
    last = list(failures.values_list("at", flat=True)[: limit.failures])
    if len(last) < limit.failures:
        return None
    return Wait(max(1, int((last[-1] + WINDOW - now).total_seconds()) + 1), limit)
