"""The menu: every page that has an address of its own, in groups. A new page is one line here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from django.urls import get_script_prefix, reverse

from results.domain.messages import gettext_lazy as _


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
        return _address(self.name, self.argument, get_script_prefix())


@cache
def _address(name: str, argument: str, script_prefix: str) -> str:
    """Return the address of a page, of which each page's menu has dozens.

    script_prefix: where Teiten lies, which `reverse()` reads by itself."""
    return reverse(name, args=[argument] if argument else [])


@dataclass(frozen=True)
class Group:
    title: str
    entries: tuple[Entry, ...]


GROUPS = (
    Group(
        _("Results"),
        (
            Entry(_("What is known and runs now"), "overview"),
            Entry(_("Runs"), "runs:list", bar=True, also=("/trials/",)),
            Entry(_("Compare"), "comparison", bar=True, also=("/diff/", "/flame/", "/c/")),
            Entry(_("Versions"), "versions", bar=True),
            Entry(_("Trends"), "trends", bar=True),
            Entry(_("Access methods"), "access-methods"),
            Entry(_("Topologies"), "topologies"),
            Entry(_("Capabilities"), "capabilities", bar=True),
        ),
    ),
    Group(
        _("Differences"),
        (
            Entry(_("What changed"), "changes"),
            Entry(_("Why they differ"), "why"),
            Entry(_("Every metric of two cells"), "why_metrics"),
            Entry(_("Environments"), "diff"),
            Entry(_("Flame charts"), "flame"),
        ),
    ),
    Group(
        _("Measure"),
        (
            Entry(_("Ready plans"), "plans:ready"),
            Entry(_("Plans"), "plans:list", bar=True),
            Entry(_("New plan"), "plans:add", shown_to=Reader.OPERATOR),
            Entry(_("Import a plan"), "plans:import", shown_to=Reader.OPERATOR),
            Entry(_("Import results"), "imports:add", shown_to=Reader.OPERATOR),
            Entry(_("Agents"), "agents:list", bar=True),
            Entry(_("Add an agent"), "agents:add", shown_to=Reader.ADMINISTRATOR),
        ),
    ),
    Group(
        _("Publish"),
        (
            Entry(_("Reports"), "reports:list", bar=True),
            Entry(_("New report"), "reports:new", shown_to=Reader.OPERATOR),
            Entry(_("Citations"), "citations:list"),
            Entry(_("Published figures of others"), "published:list"),
            Entry(_("Imported results"), "imports:list"),
            Entry(_("API"), "api:docs"),
            Entry(_("API tokens"), "account:tokens", shown_to=Reader.MEMBER),
            Entry(_("Audit log"), "audit", shown_to=Reader.ADMINISTRATOR),
        ),
    ),
    Group(
        _("Read"),
        (
            Entry(_("Method"), "manual:page", "method"),
            Entry(_("Words"), "manual:page", "words"),
            Entry(_("All chapters"), "manual:list"),
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
