"""Operations on citations: store a comparison as it is, and name a series of one as a reference."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.db import transaction

from results import models
from results.domain.errors import StateError, TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import pgettext_lazy
from results.queries.comparison.cells import Comparison
from results.queries.comparison.citations import attempts_of, content_of, hash_of
from results.runs import audit, refuse_private

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@transaction.atomic
def cite(query: str, comparison: Comparison, *, user: User | None, actor: str) -> models.Snapshot:
    """Store a comparison for good, or return the citation that there is of it.

    Raises TeitenError for a comparison without cells, StateError where a trial of it was deleted meanwhile.

    query: the comparison's complete query
    """
    if not comparison.points:
        raise TeitenError(_("There is nothing to cite."), where="compare", todo=_("Choose runs with finished trials."))
    _hold(comparison)
    snapshot, created = models.Snapshot.objects.get_or_create(
        hash=hash_of(query, comparison),
        defaults={
            "query": query,
            "attempts": attempts_of(comparison),
            "rule": comparison.rule,
            "content": content_of(comparison),
            "created_by": user,
        },
    )
    if created:
        audit(actor, "cite", f"citation {snapshot.pk}", query=query)
    return snapshot


def _hold(comparison: Comparison) -> None:
    """Keep the runs on which a comparison rests, or which it names, from being deleted or made private until the
    transaction ends. Raises StateError."""
    replicates = [replicate for point in comparison.points for replicate in point.values]
    named = {*comparison.selection.runs, *comparison.other_runs, *comparison.earlier_runs}
    wanted = {replicate.run_id for replicate in replicates} | named
    held = models.Run.objects.select_for_update(no_key=True).filter(pk__in=wanted).order_by("pk")
    refuse_private(held, pgettext_lazy("of a run that cannot be", "cited"))
    if len(held) < len(wanted):
        raise StateError(_("A run of this comparison was deleted meanwhile."), todo=_("Compare once more, then cite."))


@transaction.atomic
def save_reference(
    name: str, snapshot: models.Snapshot, series: str, *, user: User | None, actor: str
) -> models.Reference:
    """Name a series of a citation. Raises TeitenError for an invalid name or series, StateError for a name in use."""
    all_series = sorted({point["series"] for point in snapshot.content["points"]})
    if series not in all_series:
        names = ", ".join(map(repr, all_series))
        raise TeitenError(
            _("The citation has no line {name!r}.", name=series),
            where="series",
            todo=_("It has {lines}.", lines=names),
        )
    if not _NAME.fullmatch(name):
        raise TeitenError(
            _("{name!r} is no name of a reference.", name=name),
            where="name",
            todo=_("Use letters, digits, dots and dashes."),
        )
    reference, created = models.Reference.objects.get_or_create(
        name=name, defaults={"snapshot": snapshot, "series": series, "created_by": user}
    )
    if not created and (reference.snapshot_id, reference.series) != (snapshot.pk, series):
        raise StateError(
            _("Another line is called {name!r} already.", name=name),
            where="name",
            why=_(
                "It is {line!r} of citation {citation}.",
                line=reference.series,
                citation=reference.snapshot_id,
            ),
            todo=_("Choose another name."),
        )
    if created:
        audit(actor, "save reference", f"reference {name}", citation=snapshot.pk, series=series)
    return reference
