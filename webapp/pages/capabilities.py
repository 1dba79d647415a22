"""What table access methods can do: capabilities × builds, the newest answer in each cell."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from results.queries.capabilities import FILTERS, CapabilityMatrix, Line, capability_matrix

_ONLY = "only"
_DIFFERING = "differing"
_MOST_NAMED = 8


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    chosen = {name: list(dict.fromkeys(filter(None, request.GET.getlist(name)))) for name in FILTERS}
    differing = request.GET.get(_ONLY) == _DIFFERING
    found = capability_matrix(chosen)
    query = urlencode([(name, value) for name, values in chosen.items() for value in values])
    short = "&".join(part for part in (query, f"{_ONLY}={_DIFFERING}" if differing else "") if part)
    fragment = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    context = {
        "matrix": found,
        "groups": _shown(found, differing),
        "chosen": chosen,
        "facets": _facets(found, chosen),
        "differing": differing,
        "sentence": sentence(found),
        "is_filtered": any(chosen.values()),
        "json": reverse("api:capabilities") + (f"?{query}" if query else ""),
    }
    template = "capabilities/_capabilities.html" if fragment else "capabilities/index.html"
    response = render(request, template, context)
    response["HX-Push-Url"] = reverse("capabilities") + (f"?{short}" if short else "")
    return response


def sentence(found: CapabilityMatrix) -> tuple[str, str]:
    """(how many capabilities hold on all builds shown, which do not or are not known)."""
    lines, builds = found.lines, found.builds
    others = [line.title for line in lines if not line.alike]
    where = f"all {len(builds)} builds" if len(builds) > 1 else "this build"
    count = f"{len(lines) - len(others)} of {len(lines)} capabilities hold on {where}."
    more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
    return count, ", ".join(others[:_MOST_NAMED]) + more


def _shown(found: CapabilityMatrix, differing: bool) -> list[tuple[str, list[Line]]]:
    groups = [(name, [line for line in lines if not (differing and line.alike)]) for name, lines in found.groups]
    return [(name, lines) for name, lines in groups if lines]


def _facets(found: CapabilityMatrix, chosen: dict[str, list[str]]) -> list[dict[str, Any]]:
    """The filters with something to choose; of the capabilities, which are many, only those chosen."""
    facets = []
    for name in FILTERS:
        values = chosen[name] if name == "capability" else found.choices[name]
        unknown = [value for value in chosen[name] if value not in values]
        if len(values) > 1 or chosen[name]:
            facets.append({"name": name, "title": name.replace("_", " "), "values": [*values, *unknown]})
    return facets
