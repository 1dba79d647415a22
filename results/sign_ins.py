"""Signing in: failures are in the audit log, and too many of them keep an account or an address waiting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from results.domain.ip_addresses import network_of
from results.domain.messages import gettext_lazy as _
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


OF_ACCOUNT_HERE = Limit(5, _("of this account from your address"))
OF_ADDRESS = Limit(20, _("from your address"))
# High enough that nobody can lock an account by failing for it from a few places; never for a network that it signed in
# from lately.
OF_ACCOUNT = Limit(100, _("of this account"))
KNOWN = timedelta(days=30)


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
    known = User.objects.filter(username=name).exists()
    detail = _here() | _digest(name)
    AuditEntry.objects.create(actor="anonymous", verb=FAILED, object=_account(name) if known else NOBODY, detail=detail)


def note_sign_in(user: User) -> None:
    name = user.get_username()
    AuditEntry.objects.create(actor=name, verb=SIGNED_IN, object=_account(name), detail=_here())


def one_at_a_time() -> None:
    """Let nobody else of this network sign in until the transaction ends: tries at the same moment would all be let
    pass, and hashing their passwords would hold every thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"sign in from {_here()['network']}"])


def _here() -> dict[str, str]:
    """Return the network that acts."""
    return {"network": network_of(acting_address())}


def _digest(name: str) -> dict[str, str]:
    """Return by what the failures of a name are counted, be it an account or not: a difference would tell which it is.
    Without the secret key nobody reads the name from it."""
    return {"name_digest": salted_hmac("results.sign_ins", name, algorithm="sha256").hexdigest()[:32]}


def _account(name: str) -> str:
    return f"account {name}"


def _failures(name: str, now: datetime) -> Iterator[tuple[QuerySet[AuditEntry], Limit]]:
    recent = AuditEntry.objects.filter(verb=FAILED, at__gt=now - WINDOW).order_by("-at")
    yield recent.filter(detail__contains=_here()), OF_ADDRESS
    yield recent.filter(detail__contains=_here() | _digest(name)), OF_ACCOUNT_HERE
    known = AuditEntry.objects.filter(verb=SIGNED_IN, object=_account(name), at__gt=now - KNOWN)
    if not known.filter(detail__contains=_here()).exists():
        yield recent.filter(detail__contains=_digest(name)), OF_ACCOUNT


def _wait(failures: QuerySet[AuditEntry], limit: Limit, now: datetime) -> Wait | None:
    """A try is free when the oldest of the last so many failures is out of the window."""
    last = list(failures.values_list("at", flat=True)[: limit.failures])
    if len(last) < limit.failures:
        return None
    return Wait(max(1, int((last[-1] + WINDOW - now).total_seconds()) + 1), limit)
