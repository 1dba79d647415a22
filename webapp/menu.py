"""The menu: every page that has an address of its own, in groups. A new page is one line here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from django.urls import reverse


class Reader(IntEnum):
    """Who reads; each may do what those before may."""

    ANYONE = 0
    MEMBER = 1
    OPERATOR = 2
    ADMINISTRATOR = 3


@dataclass(frozen=True)
class Entry:
    """A page.

    name: of its address; with an argument, of that page.
    bar: whether it stands in the bar at the top as well.
    also: beginnings of other addresses whose pages belong to it.
    shown_to: who finds it in the menu.
    """

    text: str
    name: str
    argument: str = ""
    bar: bool = False
    also: tuple[str, ...] = ()
    shown_to: Reader = Reader.ANYONE

    @property
    def address(self) -> str:
        return reverse(self.name, args=[self.argument] if self.argument else [])


@dataclass(frozen=True)
class Group:
    title: str
    entries: tuple[Entry, ...]


GROUPS = (
    Group(
        "Results",
        (
            Entry("What is known and runs now", "overview"),
            Entry("Runs", "runs:list", bar=True, also=("/trials/",)),
            Entry("Compare", "comparison", bar=True, also=("/diff/", "/flame/", "/c/")),
            Entry("Versions", "versions", bar=True),
            Entry("Trends", "trends", bar=True),
            Entry("Access methods", "access-methods"),
            Entry("Topologies", "topologies"),
            Entry("Capabilities", "capabilities", bar=True),
        ),
    ),
    Group(
        "Differences",
        (
            Entry("What changed", "changes"),
            Entry("Why they differ", "why"),
            Entry("Every metric of two cells", "why_metrics"),
            Entry("Environments", "diff"),
            Entry("Flame charts", "flame"),
        ),
    ),
    Group(
        "Measure",
        (
            Entry("Ready plans", "plans:ready"),
            Entry("Plans", "plans:list", bar=True),
            Entry("New plan", "plans:add", shown_to=Reader.OPERATOR),
            Entry("Import a plan", "plans:import", shown_to=Reader.OPERATOR),
            Entry("Import results", "imports:add", shown_to=Reader.OPERATOR),
            Entry("Agents", "agents:list", bar=True),
            Entry("Add an agent", "agents:add", shown_to=Reader.ADMINISTRATOR),
        ),
    ),
    Group(
        "Publish",
        (
            Entry("Reports", "reports:list", bar=True),
            Entry("New report", "reports:new", shown_to=Reader.OPERATOR),
            Entry("Citations", "citations:list"),
            Entry("Published figures of others", "published:list"),
            Entry("Imported results", "imports:list"),
            Entry("API", "api:docs"),
            Entry("API tokens", "account:tokens", shown_to=Reader.MEMBER),
            Entry("Audit log", "audit", shown_to=Reader.ADMINISTRATOR),
        ),
    ),
    Group(
        "Read",
        (
            Entry("Method", "manual:page", "method"),
            Entry("Words", "manual:page", "words"),
            Entry("All chapters", "manual:list"),
        ),
    ),
)


def groups(reader: Reader) -> list[Group]:
    """Return the groups with what the reader may open."""
    return [Group(group.title, tuple(entry for entry in group.entries if entry.shown_to <= reader)) for group in GROUPS]


def entries() -> Iterator[Entry]:
    for group in GROUPS:
        yield from group.entries


def bar() -> list[Entry]:
    return [entry for entry in entries() if entry.bar]


def nearest(path: str, among: Iterable[Entry]) -> Entry | None:
    """Return the page that a path is, or the lowest of those above it; None of the front page."""
    starts = [(address, entry) for entry in among for address in (entry.address, *entry.also)]
    above = [(address, entry) for address, entry in starts if path.startswith(address) and address != "/"]
    return max(above, key=lambda pair: len(pair[0]))[1] if above else None
