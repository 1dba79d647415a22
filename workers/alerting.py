"""Send alerts, by e-mail through Django or to a webhook as JSON. One try each; `results.alerts` stores its outcome."""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from http.client import HTTPException
from smtplib import SMTPException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import Error as DatabaseError

from results import alerts, models, warehouse
from results.domain.errors import TeitenError
from results.domain.units import counted, format_quantity
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
        _SENDERS[alert.watch.channel](alert)
    except TeitenError as error:
        return str(error)
    except Exception as error:
        log.exception("alert %d could not be sent", alert.pk)
        return f"{type(error).__name__}: {error}"
    return ""


def message(alert: models.Alert) -> tuple[str, str]:
    """Return subject and text of an e-mail."""
    content = alert.content
    worse = [cell for cell in content["cells"] if _is_worse(cell)]
    plan = " ".join(str(content["plan"]).split())
    lost = content["lost"]
    outcomes = [f"{len(worse)} of {len(content['cells'])} worse"] if worse or not lost else []
    outcomes += [f"{len(lost)} not measured"] if lost else []
    subject = f"[Teiten] {plan}: {', '.join(outcomes)} in run {content['run']}"
    lines = [
        f"Run {content['run']} of “{plan}” against {_earlier(content)}, {content['metric']['label']}:",
        *([_failed_trials(content)] if content["failed"] else []),
        "",
        *(f"- {_cell_line(cell, content['metric']['unit'])}" for cell in worse[:MOST_NAMED]),
        *([f"- and {len(worse) - MOST_NAMED} more"] if len(worse) > MOST_NAMED else []),
        *(f"- {_lost_line(configuration)}" for configuration in lost[:MOST_NAMED]),
        *([f"- and {len(lost) - MOST_NAMED} more that were not measured"] if len(lost) > MOST_NAMED else []),
        "",
        f"Beside run {content['before']} alone: {_comparison(content)}",
        f"Run: {_run(content['run'])}",
        f"Plan, and who is told: {_plan(alert)}",
    ]
    return subject, "\n".join(lines)


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
        raise TeitenError("No mail server is set.", where="TEITEN_EMAIL_URL", todo="Set it as docs/operations.md says.")
    subject, text = message(alert)
    headers = {"Message-ID": f"<alert-{alert.pk}@{settings.TEITEN_EMAIL_DOMAIN}>", "Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(subject, text, to=[alert.watch.target], headers=headers).send()
    except (SMTPException, OSError) as error:
        raise TeitenError(
            "The mail server did not take it.", where=settings.EMAIL_HOST, why=str(error), todo="See its log."
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
            "The webhook is at an address of this machine, of its link, or of a cloud's metadata service.",
            where=where,
            why=str(error),
            todo="If that is meant, name the host in TEITEN_WEBHOOK_HOSTS of the workers.",
        ) from error
    except (OSError, ValueError, HTTPException) as error:
        reason = f"{type(error).__name__}: {getattr(error, 'reason', error)}"
        raise TeitenError("The webhook cannot be reached.", where=where, why=reason, todo="Look there.") from error
    if not 200 <= status < 300:
        raise TeitenError(f"The webhook answered {status}.", where=where, todo="Look there.")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
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


def _cell_line(cell: Mapping[str, Any], unit: str) -> str:
    parts = []
    if cell["kind"] == "worse" and cell["ratio"] is not None:
        known = cell["low"] is not None and cell["high"] is not None
        margin = f" (95 % interval ×{cell['low']:.3f} to ×{cell['high']:.3f})" if known else ""
        medians = f"median {format_quantity(cell['before'], unit)} → {format_quantity(cell['after'], unit)}"
        words = words_of(cell)
        parts.append(f"{words}: {medians}; ratio of geometric means ×{cell['ratio']:.3f}{margin}")
    if cell["since"] is not None:
        change = f", {_percent(cell['level_ratio'])}" if cell["level_ratio"] is not None else ""
        parts.append(f"on a worse level since run {cell['since']}{change}")
    return f"{cell['name']}: {'; '.join(parts)}{_environment_differences(cell['environment'])}"


def _earlier(content: Mapping[str, Any]) -> str:
    """Return what the run was held against: 'the 10 runs before it' where any cell was held against so many."""
    most = max((len(cell.get("against", ())) for cell in content["cells"]), default=1)
    return (
        f"up to {most} runs before it, the last of them run {content['before']}"
        if most > 1
        else f"run {content['before']}"
    )


def _lost_line(configuration: Mapping[str, Any]) -> str:
    count = configuration["failed"]
    trials = f": {counted(count, 'trial')} failed" if count else ""
    return f"{configuration['name']}: measured before, not now{trials}"


def _failed_trials(content: Mapping[str, Any]) -> str:
    if content["failed"] == content["trials"]:
        return "Every trial of it failed."
    return f"{content['failed']} of its {content['trials']} trials failed."


def _environment_differences(keys: Sequence[str]) -> str:
    return f". The environment differs: {'; '.join(keys[:5])}" if keys else ""


def _percent(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "−")


def _run(run_id: int) -> str:
    return f"{settings.TEITEN_ADDRESS}/runs/{run_id}/"


def _plan(alert: models.Alert) -> str:
    return f"{settings.TEITEN_ADDRESS}/plans/{alert.watch.plan_id}/"


def _comparison(content: Mapping[str, Any]) -> str:
    return f"{settings.TEITEN_ADDRESS}/compare/?{content['comparison']}"
