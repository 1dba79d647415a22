"""The base of manage.py commands."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError

from results import warehouse
from results.domain.errors import AwayError


class WarehouseCommand(BaseCommand):
    """A command that ends with a message when the warehouse cannot be reached."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except AwayError as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            if not warehouse.is_away(error):
                raise
            raise CommandError(str(warehouse.away_error(error))) from error
