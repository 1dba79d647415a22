"""Questions to the warehouse: one module a question, its SQL beside it, frozen dataclasses out. Pages and API call
the same functions. Each says how many SQL queries it takes."""

from __future__ import annotations


class NotFound(LookupError):
    """What was asked for by its id or name is not in the warehouse."""
