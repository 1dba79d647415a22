"""manage.py ranges: shows ranges of a thousand runs, and moves series and histograms out of the warehouse and back."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext, ngettext

from results.detaching import RunRange, attach, detach, run_ranges
from results.domain.errors import TeitenError
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.units import format_quantity
from results.ranges import RUNS, bounds, detached_since
from webapp.language import joined
from webapp.management.account import actor_of
from webapp.management.command import WarehouseCommand, in_words


class Command(WarehouseCommand):
    help = _(
        "Shows ranges of a thousand runs and what their series and histograms take; with --detach moves these into an "
        "archive beside the bundles, with --attach brings them back. All other numbers stay in the warehouse."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group()
        first = gettext("the ranges that begin with these runs, by number")
        what.add_argument("--detach", type=int, nargs="+", default=[], metavar="FIRST", help=first)
        what.add_argument("--attach", type=int, nargs="+", default=[], metavar="FIRST", help=first)

    def handle(self, *args: Any, detach: list[int], attach: list[int], **options: Any) -> None:
        try:
            if not detach and not attach:
                self._list()
            for first in detach:
                self._detach(first)
            for first in attach:
                self._attach(first)
        except TeitenError as error:
            raise CommandError(in_words(error)) from error

    def _list(self) -> None:
        for one in run_ranges():
            self.stdout.write(_line(one))

    def _detach(self, first: int) -> None:
        made = detach(first, actor_of("ranges"))
        text = gettext("Runs {first} to {last}: {rows:,} rows are in {archive} now, {size}.")
        rows = made.series_groups + made.histograms
        size = format_quantity(made.archive_bytes, "B")
        self.stdout.write(text.format(**bounds(made), rows=rows, archive=made.archive, size=size))

    def _attach(self, first: int) -> None:
        left = attach(first, actor_of("ranges"))
        text = gettext("Runs {first} to {last}: series and histograms are in the warehouse again.")
        self.stdout.write(text.format(first=first, last=first + RUNS - 1))
        if left:
            self.stderr.write(gettext("The archive is still there: {reason}").format(reason=localized(left)))


def _line(one: RunRange) -> str:
    runs = ngettext("{n:,} run", "{n:,} runs", one.runs).format(n=one.runs)
    line = gettext("Runs {first} to {last}: {runs}").format(first=one.first, last=one.last, runs=runs)
    if one.going_on:
        ended = ngettext("{n:,} has not ended", "{n:,} have not ended", one.going_on).format(n=one.going_on)
    else:
        ended = gettext("the last ended on {day}").format(day=f"{one.ended_at:%Y-%m-%d}" if one.ended_at else "?")
    parts = [line, ended, gettext("{size} in the warehouse").format(size=format_quantity(one.bytes, "B"))]
    if one.detached:
        size = format_quantity(one.detached.archive_bytes, "B")
        parts.append(gettext("{size} in {archive}").format(size=size, archive=one.detached.archive))
    return joined(parts) + (f". {localized(detached_since(one.detached))}" if one.detached else "")
