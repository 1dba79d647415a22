"""What two trials, runs or agents ran in, key by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, pgettext_lazy
from django.views.decorators.http import require_safe

from results.domain.environment.difference import KeyJudgement
from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import AGENT, Cause
from results.queries.environment.differences import Compared, differences, offers
from webapp.pages.common import wants_fragment
from webapp.problems import missing_is_404
from webapp.templatetags.environments import one_side

ALL = "all"
TITLES = {
    LayerKind.BUILD: pgettext_lazy("layer", "Build"),
    LayerKind.SETTINGS: pgettext_lazy("layer", "Settings in force"),
    LayerKind.DEFAULTS: pgettext_lazy("layer", "Defaults of the build"),
    LayerKind.ACCESS_METHOD: pgettext_lazy("layer", "Table access method"),
    LayerKind.TOPOLOGY: pgettext_lazy("layer", "Topology"),
    LayerKind.DATA: pgettext_lazy("layer", "Data"),
    LayerKind.CLIENT: pgettext_lazy("layer", "Load"),
    AGENT: pgettext_lazy("layer", "Which host"),
    LayerKind.HARDWARE: pgettext_lazy("layer", "Hardware"),
    LayerKind.KERNEL: pgettext_lazy("layer", "Kernel"),
    LayerKind.STORAGE: pgettext_lazy("layer", "Storage"),
    LayerKind.HOST: pgettext_lazy("layer", "Set on the host"),
    LayerKind.TOOL: pgettext_lazy("layer", "Tools"),
}


@dataclass(frozen=True)
class DiffQuery:
    """What the address of the page asks for.

    left, right: 'trial:12', 'run:3', 'agent:db1'; '' is not chosen yet.
    show: 'all' lists equal keys too.
    search: part of a key or of a value."""

    left: str
    right: str
    show: str
    search: str

    @classmethod
    def of(cls, request: HttpRequest) -> DiffQuery:
        fields = request.GET
        return cls(
            left=fields.get("left", "").strip(),
            right=fields.get("right", "").strip(),
            show=fields.get("show", ""),
            search=fields.get("q", "").strip(),
        )

    @property
    def lists_equal(self) -> bool:
        return self.show == ALL

    @property
    def address(self) -> str:
        """With what is not empty."""
        fields = {"left": self.left, "right": self.right, "show": self.show, "q": self.search}
        query = urlencode({name: text for name, text in fields.items() if text}, safe=":")
        return f"{reverse('diff')}?{query}" if query else reverse("diff")


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    """?left= and ?right=: 'trial:12', 'run:3', 'agent:db1'. ?show=all: equal keys too. ?q=: keys and values with it."""
    query = DiffQuery.of(request)
    context: dict[str, Any] = {
        "left": query.left,
        "right": query.right,
        "show": query.show,
        "q": query.search,
        "offers": offers(),
    }
    if query.left and query.right:
        context |= _difference(query)
    response = render(request, "diff/_diff.html" if wants_fragment(request) else "diff/index.html", context)
    response["HX-Push-Url"] = query.address
    return response


def _difference(query: DiffQuery) -> dict[str, Any]:
    compared = differences(query.left, query.right)
    left, right = compared.left.reference, compared.right.reference
    other_show = "" if query.lists_equal else ALL
    counts = _counts(compared)
    return {
        "compared": compared,
        "notable": [] if query.search else _warnings(compared),
        "groups": groups(compared, query),
        "counts": counts,
        "other_counts": {cause: count for cause, count in counts.items() if cause != Cause.CONFOUNDER},
        "swapped": replace(query, left=right, right=left).address,
        "other": replace(query, left=left, right=right, show=other_show).address,
        "json": _json_address(left, right, query),
    }


def _json_address(left: str, right: str, query: DiffQuery) -> str:
    fields = {"left": left, "right": right}
    if query.lists_equal:
        fields["show"] = ALL
    return f"{reverse('api:diff')}?{urlencode(fields)}"


def _counts(compared: Compared) -> dict[Cause, int]:
    """How many keys differ for each cause, where there are any."""
    counts = {cause: len(compared.difference.of(cause)) for cause in Cause}
    return {cause: count for cause, count in counts.items() if count}


@dataclass(frozen=True)
class DiffRow:
    """One key of both sides.

    node: '' where the layer has one role only."""

    key: str
    node: str
    left: str
    right: str
    cause: Cause
    why: str
    warn: bool


class LayerGroup(NamedTuple):
    """The rows of one layer.

    equal: how many of its keys are the same on both sides."""

    title: str
    rows: list[DiffRow]
    equal: int


def _warnings(compared: Compared) -> list[tuple[str, DiffRow]]:
    """(layer, row) of each key that a reader must know of."""
    judgements = [judgement for judgement in compared.difference.judgements if judgement.warn]
    return [(judgement.kind, _row(judgement, several_nodes=True)) for judgement in judgements]


def groups(compared: Compared, query: DiffQuery) -> list[LayerGroup]:
    """Each layer that has a key to list. What differs stands in the order of its weight, all keys in that of the
    alphabet."""
    judgements: dict[str, list[KeyJudgement]] = defaultdict(list)
    for judgement in compared.difference.judgements:
        judgements[judgement.kind].append(judgement)
    kinds = [*TITLES, *sorted(judgements.keys() - TITLES.keys())]
    layers = [_group(kind, judgements[kind], query) for kind in kinds if kind in judgements]
    return [layer for layer in layers if layer.rows]


def _group(kind: str, judgements: Sequence[KeyJudgement], query: DiffQuery) -> LayerGroup:
    several_nodes = len({judgement.node for judgement in judgements}) > 1
    differing = [judgement for judgement in judgements if judgement.cause is not Cause.SAME]
    listed: Sequence[KeyJudgement] = differing
    if query.lists_equal:
        listed = sorted(judgements, key=lambda judgement: (judgement.key, judgement.node))
    rows = [_row(judgement, several_nodes) for judgement in listed]
    matching = [row for row in rows if _matches(row, query.search)]
    return LayerGroup(str(TITLES.get(kind, kind)), matching, len(judgements) - len(differing))


def _row(judgement: KeyJudgement, several_nodes: bool) -> DiffRow:
    return DiffRow(
        key=judgement.key or gettext("all keys"),
        node=judgement.node if several_nodes else "",
        left=one_side(judgement, "left"),
        right=one_side(judgement, "right"),
        cause=judgement.cause,
        why=judgement.why,
        warn=judgement.warn,
    )


def _matches(row: DiffRow, search: str) -> bool:
    texts = (row.key, row.left, row.right, row.node)
    return any(search.lower() in text.lower() for text in texts)
