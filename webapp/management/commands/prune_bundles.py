"""manage.py prune_bundles: shows, or removes, the raw files of runs that ended long ago."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.units import format_quantity
from results.queries.shared.ids import NotFound
from results.retention import Candidate, Retention, candidates, prune
from webapp.language import joined
from webapp.management.account import actor_of
from webapp.management.command import WarehouseCommand, in_words

MOST_DAYS = 36500


class Command(WarehouseCommand):
    help = _(
        "Shows which raw files of runs that ended long ago would be removed, and what is lost with them; with --yes "
        "removes them. No number is removed. Raw files of what is cited or published stay in any case."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        since = gettext("since the end of the run")
        parser.add_argument("--older-than", type=int, required=True, metavar="DAYS", help=since)
        keep = gettext("runs whose raw files stay, by number")
        parser.add_argument("--keep", type=int, nargs="+", default=[], metavar="RUN", help=keep)
        kept_too = gettext("also of runs with the standing kept")
        parser.add_argument("--kept-too", action="store_true", help=kept_too)
        yes = gettext("remove them; without it nothing is removed")
        parser.add_argument("--yes", action="store_true", help=yes)

    def handle(self, *args: Any, older_than: int, keep: list[int], kept_too: bool, yes: bool, **options: Any) -> None:
        if not 1 <= older_than <= MOST_DAYS:
            raise CommandError(gettext("--older-than takes 1 to {most} days.").format(most=MOST_DAYS))
        retention = Retention(timedelta(days=older_than), frozenset(keep), kept_too)
        try:
            listed = list(candidates(retention, timezone.now()))
            going = [one for one in listed if not one.stays]
            for one in listed:
                self.stdout.write(_line(one))
            if not yes:
                text = gettext("Would be removed: raw files of {total}. Nothing was removed: add --yes to do so.")
                self.stdout.write(text.format(total=_total(going)))
                return
            self._remove(going, retention)
        except (TeitenError, NotFound) as error:
            raise CommandError(in_words(error)) from error

    def _remove(self, going: list[Candidate], retention: Retention) -> None:
        actor = actor_of("prune_bundles")
        files = size = 0
        left: list[str] = []
        for one in going:
            pruned = prune(one.loss.id, retention, actor)
            if pruned.loss is None:
                text = gettext("Run {run}: stays after all, something has changed meanwhile.")
                self.stdout.write(text.format(run=one.loss.id))
                continue
            files += len(pruned.loss.bundles) - len(pruned.left)
            size += pruned.loss.bundle_bytes
            left += pruned.left
        text = gettext("Removed: {files}, at most {size}.") if left else gettext("Removed: {files}, {size}.")
        self.stdout.write(text.format(files=_files(files), size=format_quantity(size, "B")))
        for reason in left:
            self.stderr.write(localized(reason))
        if n := len(left):
            text = ngettext(
                "{n:,} file could not be removed and stay named.", "{n:,} files could not be removed and stay named.", n
            )
            raise CommandError(text.format(n=n))


def _total(going: list[Candidate]) -> str:
    runs = ngettext("{n:,} run", "{n:,} runs", len(going)).format(n=len(going))
    files, size = sum(len(one.loss.bundles) for one in going), sum(one.loss.bundle_bytes for one in going)
    return joined((runs, _files(files), format_quantity(size, "B")))


def _files(n: int) -> str:
    return ngettext("{n:,} file", "{n:,} files", n).format(n=n)


def _line(one: Candidate) -> str:
    loss = one.loss
    run = gettext("Run {run}, {name}, ended {day}, {trials}, {files}, {size}").format(
        run=loss.id,
        name=loss.name,
        day=f"{one.ended_at:%Y-%m-%d}",
        trials=ngettext("{n:,} trial", "{n:,} trials", loss.trials).format(n=loss.trials),
        files=_files(len(loss.bundles)),
        size=format_quantity(loss.bundle_bytes, "B"),
    )
    if one.stays:
        return gettext("{run}: stays: {why}").format(run=run, why=localized(one.stays))
    text = ngettext(
        "{run}: {n:,} measurement could not be computed from raw output again",
        "{run}: {n:,} measurements could not be computed from raw output again",
        loss.measurements,
    )
    return text.format(run=run, n=loss.measurements)
