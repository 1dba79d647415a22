"""manage.py import_results FILE…: imports what another program measured."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from results.domain.errors import TeitenError
from results.domain.imports.values import SourceFile
from results.domain.units import counted, format_quantity
from results.foreign_results import store
from webapp.forms.imports import CSV, ImportForm, import_form, source_file
from webapp.management.command import WarehouseCommand
from workers.registry import import_formats

ACTOR = "command import_results"


class Command(WarehouseCommand):
    help = "Imports results that another program measured, from its files; a file is a trial."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument(
            "--format", default="", choices=[*import_formats(), CSV], help="the program; recognised without it"
        )
        parser.add_argument("--name", default="", help="what the import is called")
        parser.add_argument("--workload", default="", help="without it what the files say")
        parser.add_argument("--note", default="", help="machine, settings, who measured")
        parser.add_argument("--measured-on", default="", metavar="YYYY-MM-DD")
        parser.add_argument(
            "--levels",
            action="append",
            default=[],
            metavar="FILE:FACTOR=LEVEL,…",
            help="what differs between the files and is not in them, as c8.txt:version=16.4,clients=8",
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="HEADING=ROLE[:NAME[:UNIT[:BETTER]]]",
            help="of a CSV table, as 'TPS=metric:tps:tps:higher' or 'ver=factor:version'",
        )
        parser.add_argument("--delimiter", default="", help="of a CSV table")
        parser.add_argument("--decimal", default="", choices=["", ".", ","], help="of a CSV table")
        parser.add_argument("--encoding", default="", help="of a CSV table")
        parser.add_argument("--preview", action="store_true", help="only show what would be stored")

    def handle(self, *args: Any, files: Sequence[Path], preview: bool, **options: Any) -> None:
        try:
            form = import_form(_fields(options), [_read(path) for path in files])
            self._show(form)
            if preview:
                return
            run = store(form.draft, user=None, actor=ACTOR)
        except TeitenError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Run {run.pk}: {run.name}, imported from {form.title}")

    def _show(self, form: ImportForm) -> None:
        for configuration in form.arranged.configurations:
            self.stdout.write(f"{configuration.name}: {counted(len(configuration.trials), 'trial')}")
            for trial in configuration.trials:
                units = {metric.name: metric.unit for metric in trial.part.metrics}
                values = (
                    f"{one.metric} {one.label} {format_quantity(one.value, units[one.metric])}".replace("  ", " ")
                    for one in trial.part.measurements
                )
                self.stdout.write(f"  {trial.source}: {', '.join(values)}")


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
            raise CommandError(f"--levels {text}: write FILE:factor=level.")
        fields[f"levels.{file}"] = levels
    for text in options["column"]:
        heading, equals, meaning = text.rpartition("=")
        if not equals:
            raise CommandError(f"--column {text}: write HEADING=ROLE:NAME:UNIT:BETTER.")
        for part, value in zip(("role", "name", "unit", "better"), meaning.split(":"), strict=False):
            fields[f"{part}.{heading}"] = value
    return fields
