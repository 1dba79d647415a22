"""What runs count for, their tags, and who may see them: operations of users on one run or on several at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Q

from results import models
from results.domain.errors import StateError, TeitenError
from results.domain.messages import COMMA, linked, pgettext_lazy
from results.domain.messages import gettext_lazy as _
from results.domain.states import Standing
from results.queries.runs.loss import RunLoss, run_losses
from results.queries.shared.ids import require_found
from results.runs import audit, refuse_private

TAG = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
MOST_TAGS = 20


def read_standing(text: str) -> Standing:
    """Return the standing of this name. Raises TeitenError."""
    try:
        return Standing(text)
    except ValueError as error:
        todo = _("There are {standings}.", standings=linked(COMMA, Standing))
        raise TeitenError(_("There is no standing {name!r}.", name=text), where="standing", todo=todo) from error


def read_tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the tags, each once, in order; capital letters become small ones. Raises TeitenError."""
    tags = sorted({text.strip().lower() for text in texts if text.strip()})
    for tag in tags:
        if not TAG.fullmatch(tag):
            todo = _("Up to 32 letters, digits, '.', '_' or '-', beginning with a letter or digit.")
            raise TeitenError(_("{tag!r} is no tag.", tag=tag[:80]), where="tags", todo=todo)
    if len(tags) > MOST_TAGS:
        raise TeitenError(
            _("{count} tags are too many.", count=len(tags)),
            where="tags",
            todo=_("Use {most} at most.", most=MOST_TAGS),
        )
    return tuple(tags)


@transaction.atomic
def set_standing(run_ids: Sequence[int], standing: Standing, actor: str) -> int:
    """Set what runs count for, of all or of none; return how many changed. Raises NotFound, and StateError for
    published figures, which are always kept."""
    runs = lock_runs(run_ids)
    published = [] if standing is Standing.KEPT else _published(runs)
    if published:
        raise StateError(
            _("Run {runs} holds published figures, which are always kept.", runs=linked(COMMA, map(str, published))),
            todo=_("Choose measured runs only."),
        )
    if standing is Standing.KEPT:
        refuse_private(runs, pgettext_lazy("of a run that cannot be", "kept"))
    changed = [run for run in runs if run.standing != standing]
    for run in changed:
        audit(actor, "set standing", f"run {run.pk}", standing=standing.value, before=run.standing)
    models.Run.objects.filter(pk__in=[run.pk for run in changed]).update(standing=standing)
    return len(changed)


@transaction.atomic
def set_private(run_ids: Sequence[int], private: bool, actor: str) -> int:
    """Make runs private, or public, all or none; return how many changed. Raises NotFound, and StateError for a run
    that is to be private and on which something rests."""
    changed = [run for run in lock_runs(run_ids) if run.private != private]
    for loss in run_losses([run.pk for run in changed]) if private and changed else ():
        if reason := _keeps_public(loss):
            raise StateError(
                _("Run {run} cannot be made private.", run=loss.id), why=reason, todo=_("What others rest on stays.")
            )
    for run in changed:
        audit(actor, "make private" if private else "make public", f"run {run.pk}")
    ids = [run.pk for run in changed]
    models.Run.objects.filter(pk__in=ids).update(private=private)
    if not private:
        measured = models.Measurement.objects.filter(run__in=ids).values("metric")
        models.Metric.objects.filter(private=True, name__in=measured).update(private=False)
    return len(changed)


def _keeps_public(loss: RunLoss) -> str:
    """Return why a run cannot be made private; '' where it can."""
    if loss.imported:
        return _("Its figures are of others: the import or publication is listed for everybody.")
    if loss.standing == Standing.KEPT:
        return _("It is kept: views, trends and alerts are made of it.")
    if loss.citations or loss.reports:
        return _("It is cited in {citations}.", citations=linked(COMMA, (*loss.citations, *loss.reports)))
    naming = models.Snapshot.objects.filter(content__selection__runs__contains=[loss.id]).values_list("pk", flat=True)
    if naming:
        return _("It is named in {citations}.", citations=linked(COMMA, naming))
    named = Q(content__before=loss.id) | Q(content__contains={"cells": [{"against": [loss.id]}]})
    if loss.alerts or models.Alert.objects.filter(named).exists():
        return _("Alerts were judged by it while it was kept.")
    return ""


def require_public(run_ids: Iterable[int], done: str) -> None:
    """Raise StateError where one of the runs is private, and keep the others from becoming it until the transaction
    ends.

    done: what they cannot be, as a message: 'cited'"""
    with transaction.atomic():
        runs = models.Run.objects.select_for_update(no_key=True).filter(pk__in=list(run_ids)).order_by("pk")
        refuse_private(runs, done)


def _published(runs: Sequence[models.Run]) -> list[int]:
    """Return the ids of those that hold figures of reports. One query."""
    reports = models.Publication.objects.filter(program="", runs__in=runs)
    return sorted(reports.values_list("runs__pk", flat=True))


@transaction.atomic
def change_tags(run_ids: Sequence[int], actor: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> int:
    """Add and remove tags of runs, of all or of none; return how many changed. Raises NotFound, TeitenError."""
    more, fewer = set(read_tags(add)), set(read_tags(remove))
    runs = lock_runs(run_ids)
    return sum(_set_tags(run, {*run.tags, *more} - fewer, actor) for run in runs)


@transaction.atomic
def set_tags(run_id: int, tags: Iterable[str], actor: str) -> None:
    """Give a run these tags and no others. Raises NotFound, TeitenError."""
    _set_tags(lock_runs([run_id])[0], tags, actor)


def _set_tags(run: models.Run, texts: Iterable[str], actor: str) -> bool:
    tags = list(read_tags(texts))
    if tags == run.tags:
        return False
    models.Run.objects.filter(pk=run.pk).update(tags=tags)
    audit(actor, "set tags", f"run {run.pk}", tags=tags, before=run.tags)
    return True


def lock_runs(run_ids: Sequence[int], *, deleting: bool = False) -> list[models.Run]:
    """Lock the runs to the end of the transaction, against new configurations and others that refer to them too where
    they are to be deleted. Raises NotFound where one of them is not there."""
    runs = list(models.Run.objects.select_for_update(no_key=not deleting).filter(pk__in=run_ids).order_by("pk"))
    require_found(run_ids, [run.pk for run in runs], "run")
    return runs
