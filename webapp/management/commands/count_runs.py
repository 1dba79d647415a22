"""manage.py count_runs: makes the counts of runs right, where `doctor` says that they are not."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext, ngettext

from results import run_counts
from results.domain.messages import gettext_lazy as _
from webapp.management.command import WarehouseCommand


class Command(WarehouseCommand):
    help = _(
        "Compares the counts of runs, by which pages say how many runs there are and offer plans, tags and agents, "
        "with the runs, and makes them right. Runs can be read meanwhile; whoever starts, ends or changes one waits."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if mended := run_counts.mend():
            text = ngettext(
                "{n:,} count of runs was wrong, and is right now.",
                "{n:,} counts of runs were wrong, and are right now.",
                mended,
            )
            self.stdout.write(text.format(n=mended))
        else:
            self.stdout.write(gettext("All counts are right."))
