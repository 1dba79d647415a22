"""Watches and alerts: who is told when a plan's newest run is worse, and what of. Verbs for pages and tasks; sending is
`workers.alerting`. A run is judged once for all watches of its plan; docs/trends.md says by what rule."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Exists, F, OuterRef, Q

from results import models
from results.domain.errors import TeitenError
from results.domain.states import RunState
from results.models.comparisons import AlertState
from results.queries.progress import Progress, progress
from results.runs import audit

log = logging.getLogger(__name__)
EMAIL, WEBHOOK = "email", "webhook"
BACKOFF_S = (60, 300, 1800, 7200, 6 * 3600, 24 * 3600)  # after the first try in vain, the second, …; then given up
_LONGEST_TARGET = 500
_OPEN = (AlertState.QUIET, AlertState.UNJUDGED)  # a run that went on is judged again


@transaction.atomic
def watch(plan: models.Plan, channel: str, target: str, *, user: User | None, actor: str) -> models.Watch:
    """Tells the target of runs that end from now on. Raises TeitenError for one that cannot be."""
    target = target.strip()
    {EMAIL: _check_address, WEBHOOK: _check_url}.get(channel, _no_channel)(target)
    try:
        with transaction.atomic():
            made = models.Watch.objects.create(plan=plan, channel=channel, target=target, created_by=user)
    except IntegrityError as error:
        raise TeitenError(f"{target} is told already.", where="target", todo="Nothing is left to do.") from error
    audit(actor, "watch plan", f"plan {plan.pk}", channel=channel, target=target)
    return made


@transaction.atomic
def unwatch(found: models.Watch, actor: str) -> None:
    audit(actor, "stop watching plan", f"plan {found.plan_id}", channel=found.channel, target=found.target)
    found.delete()


def decide(now: datetime) -> int:
    """Judges every finished run that a watch of its plan has not been told of: how many alerts are due. A run that
    went on after it was judged to be no worse is judged again; nobody is told twice of one run. A run that cannot be
    judged is marked so, and keeps no other from being judged."""
    due = 0
    for run_id, watches in _undecided().items():
        try:
            with transaction.atomic():
                due += _decided(progress(run_id), watches, now)
        except OperationalError:
            log.exception("run %d could not be judged now", run_id)  # the database is away or busy: next time
        except Exception as error:
            log.exception("run %d could not be judged", run_id)
            why = _storable(f"{type(error).__name__}: {error}")
            with transaction.atomic():
                audit("alerts", "could not judge", f"run {run_id}", error=why)
                _mark(run_id, watches, now, AlertState.UNJUDGED, error=why)
    return due


def _undecided() -> dict[int, list[int]]:
    """Run → watches. Only runs that ended after the watch was set."""
    told = models.Alert.objects.filter(watch=OuterRef("plan__watches__pk"), run=OuterRef("pk")).filter(
        ~Q(state__in=_OPEN) | Q(decided_at__gte=OuterRef("ended_at"))
    )
    rows = (
        models.Run.objects.filter(
            state__in=(RunState.FINISHED, RunState.FAILED),
            publication=None,
            ended_at__gte=F("plan__watches__created_at"),
        )
        .filter(~Exists(told))
        .order_by("pk")
        .values_list("pk", "plan__watches__pk")
    )
    found: dict[int, list[int]] = {}
    for run_id, watch_id in rows:
        found.setdefault(run_id, []).append(watch_id)
    return found


def _decided(found: Progress, watches: list[int], now: datetime) -> int:
    state = AlertState.DUE if found.alarming else AlertState.QUIET
    count = _mark(found.run, watches, now, state, content=asdict(found), next_at=now if found.alarming else None)
    return count if found.alarming else 0


@transaction.atomic
def _mark(
    run_id: int,
    watches: list[int],
    now: datetime,
    state: AlertState,
    *,
    content: dict[str, Any] | None = None,
    next_at: datetime | None = None,
    error: str = "",
) -> int:
    """How many watches it is news to: those told of the run stay as they are."""
    models.Alert.objects.bulk_create(
        [
            models.Alert(watch_id=pk, run_id=run_id, state=AlertState.QUIET, content={}, decided_at=now)
            for pk in watches
        ],
        ignore_conflicts=True,
    )
    still = models.Alert.objects.filter(run_id=run_id, watch_id__in=watches, state__in=_OPEN)
    return still.update(state=state, content=content or {}, decided_at=now, next_at=next_at, error=error)


@contextmanager
def next_due(now: datetime) -> Iterator[models.Alert | None]:
    """The next alert to be sent, held to the end of the block, so that no two workers send the same one; None where
    nothing is due."""
    with transaction.atomic():
        found = models.Alert.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            state=AlertState.DUE, next_at__lte=now
        )
        yield found.select_related("watch__plan", "run").order_by("next_at", "pk").first()


def sent(alert: models.Alert, now: datetime) -> None:
    models.Alert.objects.filter(pk=alert.pk).update(state=AlertState.SENT, sent_at=now, next_at=None, error="")


def failed(alert: models.Alert, why: str, now: datetime) -> None:
    """Later once more, at growing intervals, until BACKOFF_S is used up. Noted twice, it counts once."""
    given_up = alert.tries >= len(BACKOFF_S)
    models.Alert.objects.filter(pk=alert.pk, tries=alert.tries).update(
        state=AlertState.FAILED if given_up else AlertState.DUE,
        tries=F("tries") + 1,
        next_at=None if given_up else now + timedelta(seconds=BACKOFF_S[alert.tries]),
        error=_storable(why),
    )


def _storable(why: str) -> str:
    """What a server answered may hold anything, and PostgreSQL stores no NUL."""
    return why.replace("\x00", "")[:2000]


def _check_address(target: str) -> None:
    try:
        EmailValidator()(target)
    except ValidationError as error:
        raise TeitenError(f"{target!r} is no e-mail address.", where="target", todo="As ada@example.org.") from error


def _check_url(target: str) -> None:
    try:
        parts = urlsplit(target)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        right = right and (parts.port is None or parts.port > 0) and target.isprintable() and " " not in target
    except ValueError:
        right = False
    if not right or len(target) > _LONGEST_TARGET:
        raise TeitenError(
            f"{target[:200]!r} is no address of a webhook.",
            where="target",
            todo="As https://chat.example.org/hooks/abc: http or https, without user and password.",
        )


def _no_channel(_: str) -> Any:
    raise TeitenError("There is no such channel.", where="channel", todo="There are email and webhook.")
