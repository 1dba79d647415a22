"""The bases of manage.py commands."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseError
from django.utils.translation import override

from results import warehouse
from results.domain.errors import AwayError, TeitenError
from results.domain.messages import Message, localized
from results.domain.secrets import masked_text
from webapp.management.language import HelpFormatter, of_terminal


class TerminalCommand(BaseCommand):
    """A command that speaks the language of the terminal where it is typed. Code that calls it gets its own."""

    def run_from_argv(self, argv: list[str]) -> None:
        with _language_of_terminal():
            super().run_from_argv(argv)

    def print_help(self, prog_name: str, subcommand: str) -> None:  # of `manage.py help NAME`
        with _language_of_terminal():
            super().print_help(prog_name, subcommand)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs.setdefault("formatter_class", HelpFormatter)
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.description = localized(self.help)
        return parser


class WarehouseCommand(TerminalCommand):
    """A command that ends with a message when the warehouse cannot be reached."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except AwayError as error:
            raise CommandError(in_words(error)) from error
        except DatabaseError as error:
            if not warehouse.is_away(error):
                raise
            raise CommandError(in_words(warehouse.away_error(error))) from error


def _language_of_terminal() -> override:
    return override(of_terminal(os.environ, sys.stdout.encoding))


def in_words(error: Exception) -> str:
    """Return what an error says, in the terminal's language where it is Teiten's own."""
    if isinstance(error, TeitenError):
        return masked_text(localized(error.words))
    text = error.args[0] if error.args else ""
    return localized(text) if isinstance(text, Message) else str(error)
