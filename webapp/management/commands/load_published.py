"""manage.py load_published: loads the figures of published reports that come with Teiten."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext
from rich.cells import cell_len

from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized, pgettext_lazy
from results.published.catalogue import TABLES
from results.published.load import load, remove
from results.queries.shared.words import stored
from webapp.management.command import WarehouseCommand
from workers.registry import known_metrics

ACTOR = "command load_published"
_DONE = {  # with a table
    "loaded": pgettext_lazy("with a table", "loaded"),
    "replaced": pgettext_lazy("with a table", "replaced"),
    "unchanged": pgettext_lazy("with a table", "unchanged"),
}


class Command(WarehouseCommand):
    help = _("Loads the published figures that come with Teiten; what is there already stays as it is.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        remove_them = gettext("take them out again, with everything said of them")
        parser.add_argument("--remove", action="store_true", help=remove_them)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["remove"]:
            self.stdout.write(gettext("Removed {n} published tables.").format(n=remove(ACTOR)))
            return
        done = {name: localized(word) for name, word in _DONE.items()}
        width = max(map(cell_len, done.values()))
        text = gettext("{table}: {place}, {trials} trials, {figures} figures")
        for one in load(TABLES, known_metrics(), ACTOR):
            place = localized(stored(one.place))
            line = text.format(table=one.slug, place=place, trials=one.trials, figures=one.figures)
            self.stdout.write(f"{' ' * (width - cell_len(done[one.done]))}{done[one.done]}  {line}")
