"""Send alerts, by e-mail through Django or to a webhook as JSON. One try each; `results.alerts` stores its outcome."""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from http.client import HTTPException
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import Error as DatabaseError
from django.utils.translation import override

from results import alerts, models, warehouse
from results.domain.errors import TeitenError
from results.domain.messages import SEMICOLON, Message, linked, localized, ngettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.units import format_quantity
from results.queries.trends.watches import words_of
from workers.outgoing import ForbiddenAddressError, HttpConnection, HttpsConnection

log = logging.getLogger(__name__)
TIMEOUT_S = 10
MOST_NAMED = 20


def send_due(now: datetime) -> int:
    """Try once to send each alert that is due, whatever the others fail of; return how many were sent.

    The outcome is stored even if the warehouse was away meanwhile, so that nobody is notified twice for that.
    """
    count = 0
    while True:
        store_outcome: partial[None] | None = None
        try:
            with alerts.next_due(now) as alert:
                if alert is None:
                    return count
                if why := _send(alert):
                    store_outcome = partial(alerts.mark_failed, alert, why, now)
                else:
                    store_outcome = partial(alerts.mark_sent, alert, now)
                store_outcome()
        except DatabaseError as error:
            if store_outcome is None or not warehouse.is_away(error):
                raise
            warehouse.drop_connection()
            warehouse.retry(store_outcome)
        count += store_outcome.func is alerts.mark_sent


def _send(alert: models.Alert) -> str:
    """Send an alert; return why it could not be sent, '' where it was."""
    try:
        with override(alert.watch.language or settings.LANGUAGE_CODE):
            _SENDERS[alert.watch.channel](alert)
    except TeitenError as error:
        return str(error)
    except Exception as error:
        log.exception("alert %d could not be sent", alert.pk)
        return f"{type(error).__name__}: {error}"
    return ""


def message(alert: models.Alert) -> tuple[str, str]:
    """Return subject and text of an e-mail, in the present language."""
    content = alert.content
    worse, lost = [cell for cell in content["cells"] if _is_worse(cell)], content["lost"]
    of_worse = [_cell_line(cell, content["metric"]["unit"]) for cell in worse[:MOST_NAMED]]
    of_lost = [_lost_line(configuration) for configuration in lost[:MOST_NAMED]]
    if len(worse) > MOST_NAMED:
        of_worse.append(_("and {count} more", count=len(worse) - MOST_NAMED))
    if len(lost) > MOST_NAMED:
        of_lost.append(_("and {count} more that were not measured", count=len(lost) - MOST_NAMED))
    lines = [
        _(
            "Run {run} of “{plan}” against {earlier}, {metric}:",
            run=content["run"],
            plan=" ".join(str(content["plan"]).split()),
            earlier=_earlier(content),
            metric=Message(content["metric"]["label"]),
        ),
        *([_failed_trials(content)] if content["failed"] else []),
        "",
        *(f"- {localized(line)}" for line in (*of_worse, *of_lost)),
        "",
        _("Beside run {run} alone: {address}", run=content["before"], address=_comparison(content)),
        _("Run: {address}", address=_run(content["run"])),
        _("Plan, and who is told: {address}", address=_plan(alert)),
    ]
    return localized(_subject(content, len(worse), len(lost))), "\n".join(localized(line) for line in lines)


def _subject(content: Mapping[str, Any], worse: int, lost: int) -> Message:
    counts = {"plan": " ".join(str(content["plan"]).split()), "run": content["run"], "cells": len(content["cells"])}
    if not lost:
        return _("[Teiten] {plan}: {worse} of {cells} worse in run {run}", worse=worse, **counts)
    if not worse:
        return _("[Teiten] {plan}: {lost} not measured in run {run}", lost=lost, **counts)
    return _(
        "[Teiten] {plan}: {worse} of {cells} worse, {lost} not measured in run {run}", worse=worse, lost=lost, **counts
    )


def payload(alert: models.Alert) -> dict[str, Any]:
    """Return what a webhook receives; docs/trends.md names every key. `text` is for chats, which show it."""
    subject, text = message(alert)
    content = alert.content
    return {
        "event": "run.worse",
        "alert": alert.pk,
        "text": f"{subject}\n{text}",
        "plan": {"id": alert.watch.plan_id, "name": content["plan"], "url": _plan(alert)},
        "run": {"id": content["run"], "url": _run(content["run"])},
        "before": {"id": content["before"], "url": _run(content["before"])},
        "comparison": _comparison(content),
        "metric": content["metric"],
        "worse": [cell for cell in content["cells"] if _is_worse(cell)],
        "cells": len(content["cells"]),
        "lost": content["lost"],
        "failed": content["failed"],
        "trials": content["trials"],
    }


def _mail(alert: models.Alert) -> None:
    if not settings.EMAIL_HOST:
        raise TeitenError(
            _("No mail server is set."), where="TEITEN_EMAIL_URL", todo=_("Set it as docs/operations.md says.")
        )
    subject, text = message(alert)
    headers = {"Message-ID": f"<alert-{alert.pk}@{settings.TEITEN_EMAIL_DOMAIN}>", "Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, text, to=[alert.watch.target], headers=headers).send()
    except (SMTPException, OSError) as error:
        raise TeitenError(
            _("The mail server did not take it."), where=settings.EMAIL_HOST, why=str(error), todo=_("See its log.")
        ) from error


def _post(alert: models.Alert) -> None:
    """Send an alert to a webhook. Of the response only the status is used.

    Redirects are not followed and no proxy is used: only the address that was allowed is reached.
    """
    request = urllib.request.Request(  # noqa: S310  # http and https alone are stored (results/alerts.py)
        alert.watch.target,
        data=json.dumps(payload(alert)).encode(),
        headers={"Content-Type": "application/json", "User-Agent": "Teiten", "Idempotency-Key": f"alert-{alert.pk}"},
        method="POST",
    )
    where = alert.watch.target.partition("?")[0]
    try:
        with _OPENER.open(request, timeout=TIMEOUT_S) as response:
            status = response.status
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except ForbiddenAddressError as error:
        raise TeitenError(
            _("The webhook is at an address of this machine, of its link, or of a cloud's metadata service."),
            where=where,
            why=error.args[0],
            todo=_("If that is meant, name the host in TEITEN_WEBHOOK_HOSTS of the workers."),
        ) from error
    except (OSError, ValueError, HTTPException) as error:
        reason = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
        raise TeitenError(
            _("The webhook cannot be reached."), where=where, why=reason, todo=_("Look there.")
        ) from error
    if not 200 <= status < 300:
        raise TeitenError(_("The webhook answered {status}.", status=status), where=where, todo=_("Look there."))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any) -> None:
        return None


class _ToHttp(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(HttpConnection, request)


class _ToHttps(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(HttpsConnection, request)


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect, _ToHttp, _ToHttps)
_SENDERS = {alerts.EMAIL: _mail, alerts.WEBHOOK: _post}


def _is_worse(cell: Mapping[str, Any]) -> bool:
    return cell["kind"] == "worse" or cell["since"] is not None


def _cell_line(cell: Mapping[str, Any], unit: str) -> Message:
    parts = []
    if cell["kind"] == "worse" and cell["ratio"] is not None:
        parts.append(_ratio(cell, unit))
    if cell["since"] is not None:
        parts.append(_level(cell))
    what = linked(SEMICOLON, parts)
    if not cell["environment"]:
        return _("{cell}: {what}", cell=cell["name"], what=what)
    keys = "; ".join(cell["environment"][:5])
    return _("{cell}: {what}. The environment differs: {keys}", cell=cell["name"], what=what, keys=keys)


def _ratio(cell: Mapping[str, Any], unit: str) -> Message:
    numbers = {
        "words": words_of(cell),
        "before": format_quantity(cell["before"], unit),
        "after": format_quantity(cell["after"], unit),
        "ratio": cell["ratio"],
    }
    if cell["low"] is None or cell["high"] is None:
        return _("{words}: median {before} → {after}; ratio of geometric means ×{ratio:.3f}", **numbers)
    return _(
        # xgettext:no-python-format
        "{words}: median {before} → {after}; ratio of geometric means ×{ratio:.3f} "
        "(95 % interval ×{low:.3f} to ×{high:.3f})",
        low=cell["low"],
        high=cell["high"],
        **numbers,
    )


def _level(cell: Mapping[str, Any]) -> Message:
    if cell["level_ratio"] is None:
        return _("on a worse level since run {run}", run=cell["since"])
    return _("on a worse level since run {run}, {change}", run=cell["since"], change=_percent(cell["level_ratio"]))


def _earlier(content: Mapping[str, Any]) -> Message:
    """Return what the run was held against: 'the 10 runs before it' where any cell was held against so many."""
    most = max((len(cell.get("against", ())) for cell in content["cells"]), default=1)
    if most > 1:
        return _("up to {most} runs before it, the last of them run {run}", most=most, run=content["before"])
    return _("run {run}", run=content["before"])


def _lost_line(configuration: Mapping[str, Any]) -> Message:
    if not configuration["failed"]:
        return _("{configuration}: measured before, not now", configuration=configuration["name"])
    return ngettext_lazy(
        "{configuration}: measured before, not now: {number:,} trial failed",
        "{configuration}: measured before, not now: {number:,} trials failed",
        configuration["failed"],
        configuration=configuration["name"],
    )


def _failed_trials(content: Mapping[str, Any]) -> Message:
    if content["failed"] == content["trials"]:
        return _("Every trial of it failed.")
    return _("{failed} of its {trials} trials failed.", failed=content["failed"], trials=content["trials"])


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "−")


def _run(run_id: int) -> str:
    return f"{settings.TEITEN_ADDRESS}/runs/{run_id}/"


def _plan(alert: models.Alert) -> str:
    return f"{settings.TEITEN_ADDRESS}/plans/{alert.watch.plan_id}/"


def _comparison(content: Mapping[str, Any]) -> str:
    return f"{settings.TEITEN_ADDRESS}/compare/?{content['comparison']}"
