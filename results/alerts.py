"""Operations on watches and alerts, which notify people when a plan's newest run is worse; for pages and tasks.

A run is judged once for all watches of its plan, by the rule in docs/trends.md. `workers.alerting` sends alerts.
"""

from __future__ import annotations

import hashlib
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
from django.utils.translation import get_language

from results import models
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.states import RunState, Standing
from results.models.comparisons import AlertState
from results.queries.trends.progress import Progress, progress
from results.runs import audit

log = logging.getLogger(__name__)
EMAIL, WEBHOOK = "email", "webhook"
BACKOFF_S = (60, 300, 1800, 7200, 6 * 3600, 24 * 3600)  # after the first failed try, the second, …; then given up
_LONGEST_TARGET = 500
_NOT_NOTIFIED = (AlertState.QUIET, AlertState.UNJUDGED)  # a run that went on is judged again


@transaction.atomic
def watch(plan: models.Plan, channel: str, target: str, *, user: User | None, actor: str) -> models.Watch:
    """Notify the target of runs of the plan that end from now on, in the language of who asks for it.

    Raises TeitenError for an invalid target.
    """
    target = target.strip()
    check = {EMAIL: _check_address, WEBHOOK: _check_url}.get(channel, _refuse_channel)
    check(target)
    try:
        with transaction.atomic():
            created = models.Watch.objects.create(
                plan=plan, channel=channel, target=target, language=get_language() or "", created_by=user
            )
    except IntegrityError as error:
        raise TeitenError(
            _("{address} is told already.", address=target), where="target", todo=_("Nothing is left to do.")
        ) from error
    audit(actor, "watch plan", f"plan {plan.pk}", channel=channel, target=_filed(channel, target))
    return created


@transaction.atomic
def unwatch(watch: models.Watch, actor: str) -> None:
    target = _filed(watch.channel, watch.target)
    audit(actor, "stop watching plan", f"plan {watch.plan_id}", channel=watch.channel, target=target)
    watch.delete()


def _filed(channel: str, target: str) -> str:
    """Return a target as the audit log has it: of a webhook the host and a checksum, as its address is a password."""
    if channel != WEBHOOK:
        return target
    parts = urlsplit(target)
    return f"{parts.scheme}://{parts.netloc}/ (SHA-256 {hashlib.sha256(target.encode()).hexdigest()[:12]})"


def judge_runs(now: datetime) -> int:
    """Judge every ended run that a watch of its plan was not notified of; return how many alerts became due.

    A run that went on after it was judged to be no worse is judged again, and nobody is notified twice of one run. A
    run that cannot be judged is marked so, and the others are judged all the same.
    """
    due = 0
    for run_id, watches in _watches_to_notify().items():
        try:
            with transaction.atomic():
                due += _store_judgement(progress(run_id), watches, now)
        except OperationalError:
            log.exception("run %d could not be judged now", run_id)  # the database is away or busy: next time
        except Exception as error:
            if not models.Run.objects.filter(pk=run_id).exists():
                continue  # it was deleted meanwhile
            log.exception("run %d could not be judged", run_id)
            why = _storable_text(f"{type(error).__name__}: {error}")
            with transaction.atomic():
                audit("alerts", "could not judge", f"run {run_id}", error=why)
                _mark(run_id, watches, now, AlertState.UNJUDGED, error=why)
    return due


def _watches_to_notify() -> dict[int, list[int]]:
    """Return run id → ids of the watches to judge it for: those that were set before the run ended. Only kept runs on
    the lists are judged: one that is kept later, when it is."""
    notified = models.Alert.objects.filter(watch=OuterRef("plan__watches__pk"), run=OuterRef("pk")).filter(
        ~Q(state__in=_NOT_NOTIFIED) | Q(decided_at__gte=OuterRef("ended_at"))
    )
    rows = (
        models.Run.objects.filter(
            state__in=(RunState.FINISHED, RunState.FAILED),
            standing=Standing.KEPT,
            archived=False,
            publication=None,
            ended_at__gte=F("plan__watches__created_at"),
        )
        .filter(~Exists(notified))
        .order_by("pk")
        .values_list("pk", "plan__watches__pk")
    )
    watches: dict[int, list[int]] = {}
    for run_id, watch_id in rows:
        watches.setdefault(run_id, []).append(watch_id)
    return watches


def _store_judgement(result: Progress, watches: list[int], now: datetime) -> int:
    """Store the judgement of a run for its watches; return how many alerts are due."""
    state = AlertState.DUE if result.alarming else AlertState.QUIET
    count = _mark(result.run, watches, now, state, content=asdict(result), next_at=now if result.alarming else None)
    return count if result.alarming else 0


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
    """Set the alerts of watches that were not notified of the run; return how many."""
    models.Alert.objects.bulk_create(
        [
            models.Alert(watch_id=pk, run_id=run_id, state=AlertState.QUIET, content={}, decided_at=now)
            for pk in watches
        ],
        ignore_conflicts=True,
    )
    alerts = models.Alert.objects.filter(run_id=run_id, watch_id__in=watches, state__in=_NOT_NOTIFIED)
    return alerts.update(state=state, content=content or {}, decided_at=now, next_at=next_at, error=error)


@contextmanager
def next_due(now: datetime) -> Iterator[models.Alert | None]:
    """Give the next alert to be sent, locked to the end of the block against other workers; None where none is due."""
    with transaction.atomic():
        due = models.Alert.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            state=AlertState.DUE, next_at__lte=now, run__archived=False, run__standing=Standing.KEPT
        )
        yield due.select_related("watch__plan", "run").order_by("next_at", "pk").first()


def mark_sent(alert: models.Alert, now: datetime) -> None:
    models.Alert.objects.filter(pk=alert.pk).update(state=AlertState.SENT, sent_at=now, next_at=None, error="")


def mark_failed(alert: models.Alert, why: str, now: datetime) -> None:
    """Schedule the next try of an alert that could not be sent, or give it up when BACKOFF_S is used up.

    Marked twice for one try, as after a lost connection, it counts once.
    """
    given_up = alert.tries >= len(BACKOFF_S)
    models.Alert.objects.filter(pk=alert.pk, tries=alert.tries).update(
        state=AlertState.FAILED if given_up else AlertState.DUE,
        tries=F("tries") + 1,
        next_at=None if given_up else now + timedelta(seconds=BACKOFF_S[alert.tries]),
        error=_storable_text(why),
    )


def _storable_text(why: str) -> str:
    """Return the text shortened and without NUL, which PostgreSQL does not store: a server may answer anything."""
    return why.replace("\x00", "")[:2000]


def _check_address(target: str) -> None:
    try:
        EmailValidator()(target)
    except ValidationError as error:
        raise TeitenError(
            _("{address!r} is no e-mail address.", address=target), where="target", todo=_("As ada@example.org.")
        ) from error


def _check_url(target: str) -> None:
    try:
        parts = urlsplit(target)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
        valid = valid and (parts.port is None or parts.port > 0) and target.isprintable() and " " not in target
    except ValueError:
        valid = False
    if not valid or len(target) > _LONGEST_TARGET:
        raise TeitenError(
            _("{address!r} is no address of a webhook.", address=target[:200]),
            where="target",
            todo=_("As https://chat.example.org/hooks/abc: http or https, without user and password."),
        )


def _refuse_channel(target: str) -> Any:
    raise TeitenError(_("There is no such channel."), where="channel", todo=_("There are email and webhook."))
