"""manage.py import_results FILE…: imports what another program measured."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext, ngettext

from results.domain.errors import TeitenError
from results.domain.imports.values import SourceFile
from results.domain.messages import gettext_lazy as _
from results.domain.messages import localized
from results.domain.units import format_quantity
from results.foreign_results import store
from webapp.forms.imports import CSV, ImportForm, import_form, source_file
from webapp.language import joined
from webapp.management.command import WarehouseCommand, in_words
from workers.registry import import_formats

ACTOR = "command import_results"


class Command(WarehouseCommand):
    help = _("Imports results that another program measured, from its files; a file is a trial.")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        programs = [*import_formats(), CSV]
        parser.add_argument(
            "--format", default="", choices=programs, help=gettext("the program; recognised without it")
        )
        parser.add_argument("--name", default="", help=gettext("what the import is called"))
        parser.add_argument("--workload", default="", help=gettext("without it what the files say"))
        parser.add_argument("--note", default="", help=gettext("machine, settings, who measured"))
        parser.add_argument("--measured-on", default="", metavar="YYYY-MM-DD")
        parser.add_argument(
            "--levels",
            action="append",
            default=[],
            metavar="FILE:FACTOR=LEVEL,…",
            help=gettext("what differs between the files and is not in them, as {example}").format(
                example="c8.txt:version=16.4,clients=8"
            ),
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="HEADING=ROLE[:NAME[:UNIT[:BETTER]]]",
            help=gettext("of a CSV table, as {example} or {other}").format(
                example="'TPS=metric:tps:tps:higher'", other="'ver=factor:version'"
            ),
        )
        parser.add_argument("--delimiter", default="", help=gettext("of a CSV table"))
        parser.add_argument("--decimal", default="", choices=["", ".", ","], help=gettext("of a CSV table"))
        parser.add_argument("--encoding", default="", help=gettext("of a CSV table"))
        parser.add_argument("--preview", action="store_true", help=gettext("only show what would be stored"))

    def handle(self, *args: Any, files: Sequence[Path], preview: bool, **options: Any) -> None:
        try:
            form = import_form(_fields(options), [_read(path) for path in files])
            self._show(form)
            if preview:
                return
            run = store(form.draft, user=None, actor=ACTOR)
        except TeitenError as error:
            raise CommandError(in_words(error)) from error
        text = gettext("Run {run}: {name}, imported from {program}")
        self.stdout.write(text.format(run=run.pk, name=run.name, program=localized(form.title)))

    def _show(self, form: ImportForm) -> None:
        for configuration in form.arranged.configurations:
            n = len(configuration.trials)
            text = ngettext("{name}: {n:,} trial", "{name}: {n:,} trials", n)
            self.stdout.write(text.format(name=configuration.name, n=n))
            for trial in configuration.trials:
                units = {metric.name: metric.unit for metric in trial.part.metrics}
                values = (
                    f"{one.metric} {one.label} {format_quantity(one.value, units[one.metric])}".replace("  ", " ")
                    for one in trial.part.measurements
                )
                self.stdout.write(f"  {trial.source}: {joined(values)}")


def _read(path: Path) -> SourceFile:
    try:
        return source_file(path.name, path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _fields(options: dict[str, Any]) -> dict[str, str]:
    fields = {"program": options["format"], "measured_on": options["measured_on"]}
    fields |= {name: options[name] for name in ("name", "workload", "note", "delimiter", "decimal", "encoding")}
    for text in options["levels"]:
        file, colon, levels = text.partition(":")
        if not colon:
            raise CommandError(gettext("--levels {text}: write FILE:factor=level.").format(text=text))
        fields[f"levels.{file}"] = levels
    for text in options["column"]:
        heading, equals, meaning = text.rpartition("=")
        if not equals:
            raise CommandError(gettext("--column {text}: write HEADING=ROLE:NAME:UNIT:BETTER.").format(text=text))
        for part, value in zip(("role", "name", "unit", "better"), meaning.split(":"), strict=False):
            fields[f"{part}.{heading}"] = value
    return fields
