"""Verbs on citations: keep a comparison as it is, and save a line of one as a reference."""

from __future__ import annotations

import re

from django.contrib.auth.models import User
from django.db import transaction

from results import models
from results.errors import StateError, TeitenError
from results.queries.cells import Comparison
from results.queries.snapshots import attempts_of, content_of, hash_of
from results.runs import audit

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@transaction.atomic
def cite(query: str, comparison: Comparison, *, user: User | None, actor: str) -> models.Snapshot:
    """The comparison, kept for good; the one that is there where it was cited before. query: what `comparison` answers,
    complete. Raises TeitenError where it has no cell."""
    if not comparison.points:
        raise TeitenError("There is nothing to cite.", where="compare", todo="Choose runs with finished trials.")
    snapshot, made = models.Snapshot.objects.get_or_create(
        hash=hash_of(query, comparison),
        defaults={
            "query": query,
            "attempts": attempts_of(comparison),
            "rule": comparison.rule,
            "content": content_of(comparison),
            "created_by": user,
        },
    )
    if made:
        audit(actor, "cite", f"citation {snapshot.pk}", query=query)
    return snapshot


@transaction.atomic
def save_reference(
    name: str, snapshot: models.Snapshot, series: str, *, user: User | None, actor: str
) -> models.Reference:
    """A line of a citation under a name. Raises TeitenError for a name or a line that cannot be, StateError where the
    name is taken."""
    lines = sorted({point["series"] for point in snapshot.content["points"]})
    if series not in lines:
        there = ", ".join(map(repr, lines))
        raise TeitenError(f"The citation has no line {series!r}.", where="series", todo=f"It has {there}.")
    if not _NAME.fullmatch(name):
        raise TeitenError(
            f"{name!r} is no name of a reference.", where="name", todo="Use letters, digits, dots and dashes."
        )
    reference, made = models.Reference.objects.get_or_create(
        name=name, defaults={"snapshot": snapshot, "series": series, "created_by": user}
    )
    if not made and (reference.snapshot_id, reference.series) != (snapshot.pk, series):
        raise StateError(
            f"Another line is called {name!r} already.",
            where="name",
            why=f"It is {reference.series!r} of citation {reference.snapshot_id}.",
            todo="Choose another name.",
        )
    if made:
        audit(actor, "save reference", f"reference {name}", citation=snapshot.pk, series=series)
    return reference
