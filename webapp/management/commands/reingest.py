"""manage.py reingest: reads the archived bundles again and compares them with the warehouse."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext, ngettext

from results.domain.measurement.parsed_trial import Gap
from results.domain.messages import SEMICOLON, localized
from results.domain.messages import gettext_lazy as _
from results.ingest import Difference
from results.queries.shared.words import stored
from results.retention import Removal, removals
from webapp.management.command import WarehouseCommand, in_words
from workers import tasks


class Command(WarehouseCommand):
    help = _("Reads every archived bundle again and reports each number that differs from the warehouse.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        mode = parser.add_mutually_exclusive_group(required=True)
        check = gettext("only report; exit code 1 when something differs")
        mode.add_argument("--check", action="store_true", help=check)
        replace = gettext("store what the bundle says where it differs")
        mode.add_argument("--replace", action="store_true", help=replace)
        with_gaps = gettext("with --replace: also where a gap takes the place of a collector's stored numbers")
        parser.add_argument("--with-gaps", action="store_true", help=with_gaps)
        parser.add_argument("--run", type=int, default=None, help=gettext("only this run"))

    def handle(self, *args: Any, check: bool, run: int | None, with_gaps: bool, **options: Any) -> None:
        attempts = measurements = differences = 0
        bad: list[str] = []
        kept: list[str] = []
        for attempt in tasks.reread(run, replace=not check, with_gaps=with_gaps):
            attempts += 1
            measurements += attempt.measurements
            differences += len(attempt.differences)
            where = _("trial {trial}, attempt {attempt}", trial=attempt.trial_id, attempt=attempt.attempt_id)
            if attempt.error is not None:
                bad.append(_at(where, in_words(attempt.error)))
            if attempt.kept_for:
                why = gettext("kept as stored, since there would be a gap: {gaps}")
                kept.append(_at(where, why.format(gaps=_shown(attempt.kept_for)))[:500])
            for difference in attempt.differences:
                self.stdout.write(_at(where, _difference(difference)[:500]))
        text = gettext("{attempts} attempts, {measurements} measurements read again, {differences} differences.")
        self.stdout.write(text.format(attempts=attempts, measurements=measurements, differences=differences))
        for gone in removals(run):
            self.stdout.write(_gone(gone))
        for line in (*kept, *bad):
            self.stderr.write(line)
        if end := _end(len(bad), len(kept), differences if check else 0):
            raise CommandError(end)


def _end(bad: int, kept: int, differences: int) -> str:
    """Return why the command ends with a failure; '' where it does not."""
    if bad:
        text = ngettext("{n:,} bundle could not be read.", "{n:,} bundles could not be read.", bad)
        return text.format(n=bad)
    if kept:
        text = ngettext(
            "{n:,} attempt kept as stored; see --with-gaps.", "{n:,} attempts kept as stored; see --with-gaps.", kept
        )
        return text.format(n=kept)
    return gettext("The warehouse and the bundles differ.") if differences else ""


def _at(where: str, what: str) -> str:
    return localized(_("{where}: {what}", where=where, what=what))


def _difference(one: Difference) -> str:
    key = " ".join(str(part) for part in one.key if part != "")
    text = gettext("{table} {key}: stored {stored}, bundle {bundle}")
    return text.format(table=one.table, key=key, stored=one.stored, bundle=one.bundle)


def _gone(gone: Removal) -> str:
    text = ngettext(
        "Run {run}: {n:,} attempt not read again: raw files were removed on {day} by {who}.",
        "Run {run}: {n:,} attempts not read again: raw files were removed on {day} by {who}.",
        gone.attempts,
    )
    return text.format(run=gone.run_id, n=gone.attempts, day=f"{gone.at:%Y-%m-%d}", who=gone.by)


def _shown(gaps: Iterable[Gap]) -> str:
    text = gettext("{source} on {node}: {reason}")
    words = (text.format(source=gap.source, node=gap.node, reason=localized(stored(gap.reason))) for gap in gaps)
    return localized(SEMICOLON).join(words)
