"""Trials on machines out of this Teiten's reach: orders as a file, and running them without a warehouse."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from results import logs, models
from results.domain import json_text
from results.domain.dataclass_json import ShapeError, from_json
from results.domain.errors import StateError, TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.states import RunState, TrialState
from workers import executor
from workers.bundle.writer import archive_path
from workers.execution import Reporter
from workers.orders import Order, order_for

FORMAT = 1


@dataclass(frozen=True)
class Orders:
    """Orders in the order in which the trials are to be run."""

    orders: tuple[Order, ...]
    format: int = FORMAT


@dataclass(frozen=True)
class Made:
    """A bundle that was made, and the error that ended its attempt, `TeitenError.as_dict()`; None for none.

    was_there: it was made before, and the attempt was not run again
    """

    trial_key: str
    path: Path
    error: dict[str, Any] | None = None
    was_there: bool = False


def orders_of_run(run_id: int) -> str:
    """Return the orders of all trials of a run that wait, as JSON; there are no secrets in it. Raises Run.DoesNotExist,
    StateError for a run in which none waits."""
    run = models.Run.objects.get(pk=run_id)
    if run.making:
        raise StateError(_("Trials of run {run} are still being made.", run=run_id), todo=_("Try again in a minute."))
    waiting = run.trials.filter(state=TrialState.WAITING).select_related("configuration").order_by("position")
    orders = tuple(order_for(trial, trial.attempts.count() + 1) for trial in waiting)
    if run.state != RunState.RUNNING or not orders:
        raise StateError(_("No trial of run {run} waits.", run=run_id), todo=_("Start a run, or retry what failed."))
    return json.dumps(asdict(Orders(orders)), ensure_ascii=False) + "\n"


def run_orders(text: str, folder: Path) -> Iterator[Made]:
    """Run orders one after the other, without a warehouse, and write each bundle below the folder.

    An order whose bundle is there already is not run. An agent's servers are stopped after the last that names it.

    Raises TeitenError for a text that holds no orders."""
    try:
        orders = from_json(Orders, json_text.loads(text, most=None)).orders
    except (ShapeError, ValueError) as error:
        todo = _("Export the orders again with a Teiten of this version.")
        raise TeitenError(_("These are no orders."), where="orders", why=str(error)[:300], todo=todo) from error
    paths = [folder / archive_path(order.trial_key, order.attempt) for order in orders]
    there = [path.exists() for path in paths]
    idle = iter(idle_after([order for order, is_there in zip(orders, there, strict=True) if not is_there]))
    for order, path, is_there in zip(orders, paths, there, strict=True):
        if is_there:
            yield Made(order.trial_key, path, was_there=True)
            continue
        with logs.about(**order.log_fields):
            _archived, failure = asyncio.run(_run(order, folder, next(idle)))
        yield Made(order.trial_key, path, failure)


def idle_after(orders: Sequence[Order]) -> list[frozenset[str]]:
    """Return, for each order, the names of its agents that no later one needs."""
    last = {name: number for number, order in enumerate(orders) for name in order.addresses}
    return [frozenset(name for name in order.addresses if last[name] == number) for number, order in enumerate(orders)]


async def _run(order: Order, folder: Path, idle: Collection[str]) -> Any:
    return await executor.run(order, folder, Reporter(idle))
