"""What two trials, runs or agents ran in, key by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.domain.environment.difference import KeyJudgement
from results.domain.environment.layers import LayerKind
from results.domain.environment.rules import AGENT, Cause
from results.queries.differences import Compared, differences, offers
from webapp.problems import missing_is_404
from webapp.templatetags.environments import one_side

ALL = "all"
TITLES = {
    LayerKind.BUILD: "Build",
    LayerKind.SETTINGS: "Settings in force",
    LayerKind.DEFAULTS: "Defaults of the build",
    LayerKind.ACCESS_METHOD: "Table access method",
    LayerKind.TOPOLOGY: "Topology",
    LayerKind.DATA: "Data",
    LayerKind.CLIENT: "Load",
    AGENT: "Which machine",
    LayerKind.HARDWARE: "Hardware",
    LayerKind.KERNEL: "Kernel",
    LayerKind.STORAGE: "Storage",
    LayerKind.HOST: "Set on the machine",
    LayerKind.TOOL: "Tools",
}


@require_safe
@missing_is_404()
def index(request: HttpRequest) -> HttpResponse:
    """?left= and ?right=: 'trial:12', 'run:3', 'agent:db1'. ?show=all: equal keys too. ?q=: keys and values with it."""
    left, right = (request.GET.get(name, "").strip() for name in ("left", "right"))
    show, wanted = request.GET.get("show", ""), request.GET.get("q", "").strip()
    context: dict[str, Any] = {"left": left, "right": right, "show": show, "q": wanted, "offers": offers()}
    if left and right:
        found = differences(left, right)
        pair = {"left": found.left.reference, "right": found.right.reference}
        context |= {
            "found": found,
            "told": [(j.kind, _row(j, True)) for j in found.difference.judgements if j.warn and not wanted],
            "groups": groups(found, show == ALL, wanted),
            "counts": {cause: len(keys) for cause in Cause if (keys := found.difference.of(cause))},
            "swapped": _address(left=pair["right"], right=pair["left"], show=show, q=wanted),
            "other": _address(**pair, show="" if show == ALL else ALL, q=wanted),
            "json": f"{reverse('api:diff')}?{urlencode(pair | ({'show': ALL} if show == ALL else {}))}",
        }
    fragment = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    response = render(request, "diff/_diff.html" if fragment else "diff/index.html", context)
    response["HX-Push-Url"] = _address(left=left, right=right, show=show, q=wanted)
    return response


def _address(**values: str) -> str:
    query = urlencode({name: value for name, value in values.items() if value}, safe=":")
    return reverse("diff") + (f"?{query}" if query else "")


@dataclass(frozen=True)
class Row:
    """node: '' where the layer has one role only."""

    key: str
    node: str
    left: str
    right: str
    cause: Cause
    why: str
    warn: bool


def groups(found: Compared, everything: bool, wanted: str) -> list[tuple[str, list[Row], int]]:
    """(title, rows, how many keys are equal) of each layer that has any key like that. What differs stands in the
    order of its weight, all keys in that of the alphabet."""
    judgements = found.difference.judgements
    shown = []
    for kind in (*TITLES, *sorted({j.kind for j in judgements} - TITLES.keys())):
        of = [judgement for judgement in judgements if judgement.kind == kind]
        if everything:
            of.sort(key=lambda judgement: (judgement.key, judgement.node))
        several = len({judgement.node for judgement in of}) > 1
        rows = [_row(j, several) for j in of if everything or j.cause is not Cause.SAME]
        rows = [row for row in rows if _fits(row, wanted)]
        if rows:
            equal = sum(judgement.cause is Cause.SAME for judgement in of)
            shown.append((TITLES.get(kind, kind), rows, equal))
    return shown


def _row(judgement: KeyJudgement, several: bool) -> Row:
    left, right = one_side(judgement, "left"), one_side(judgement, "right")
    node = judgement.node if several else ""
    return Row(judgement.key or "all keys", node, left, right, judgement.cause, judgement.why, judgement.warn)


def _fits(row: Row, wanted: str) -> bool:
    texts: Sequence[str] = (row.key, row.left, row.right, row.node)
    return any(wanted.lower() in text.lower() for text in texts)
