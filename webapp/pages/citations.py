"""Citations: comparisons kept as they were, and the references that are made of their lines."""

from __future__ import annotations

from operator import attrgetter

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from results import models, snapshots
from results.models.audit import Scope
from results.queries.comparison.cells import Comparison
from results.queries.comparison.citations import cited, hash_of, list_snapshots
from results.queries.comparison.trust import trust_in
from webapp import citations
from webapp.access import actor, allows, lacking, needs, person, scope_of
from webapp.bibliography import bibtex
from webapp.charts.comparison import stacked_steps
from webapp.charts.style import key
from webapp.compare.figure_words import statistic_name
from webapp.compare.panels import comparison_panels
from webapp.compare.trust import trust_line
from webapp.compare.words import names_of
from webapp.exports.forms import offered
from webapp.labels import axis_title
from webapp.language import in_english
from webapp.pages.common import PAGE, page_of
from webapp.problems import missing_is_404
from webapp.urlstate import NO_VIEW


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The newest citations first, or those that are older than one."""
    before = request.GET.get("before", "")
    rows = list_snapshots(before=before, limit=PAGE + 1)
    return render(request, "citations/list.html", {"page": page_of(rows, PAGE, attrgetter("hash"), at=before)})


@require_safe
@missing_is_404()
def detail(request: HttpRequest, hash_: str) -> HttpResponse:
    citation = cited(hash_)
    url = request.build_absolute_uri(reverse("citations:detail", args=[hash_]))
    published = citations.published_in(citation.row.runs)
    context = {
        "citation": citation.row,
        "comparison": citation.comparison,
        "title": citations.title(citation.comparison),
        "stack": stacked_steps(citation.comparison, NO_VIEW),
        "panels": comparison_panels(citation.comparison, NO_VIEW),
        "key": key(list(names_of(citation.comparison).values())),
        "statistic": statistic_name(citation.comparison),
        "x_title": axis_title(citation.comparison.selection.x, citation.comparison.metric),
        "panel_title": _title(citation.comparison.selection.panel, citation.comparison),
        "series_title": _title(citation.comparison.selection.series, citation.comparison),
        "trust": trust_line(trust_in(citation.comparison), citation.comparison),
        "standing": citations.compare_with_today(citation),
        "remarks": citations.remarks(citation.comparison, published),
        "text": citations.plain_text(citation, url, published),
        "bibtex": bibtex(citations.entry(citation, url, published)),
        "forms": offered(),
        "may_save": allows(scope_of(request.user), Scope.PUBLISH),
    }
    return render(request, "citations/detail.html", context)


def _title(dimension: str | None, comparison: Comparison) -> str:
    """Return what heads a column of the cells: in English the dimension as the query names it."""
    return axis_title(dimension, comparison.metric) if dimension and not in_english() else dimension or ""


@require_POST
def cite(request: HttpRequest) -> HttpResponse:
    """A publisher makes a citation; anybody is led to one that there is."""
    sent = request.POST.get("query", "")
    if not sent and not request.user.is_authenticated:
        return redirect_to_login(reverse("comparison"))
    query, comparison = citations.compare_query(sent)
    hash_ = hash_of(query, comparison)
    if not models.Snapshot.objects.filter(pk=hash_).exists():
        if not request.user.is_authenticated:
            return redirect_to_login(f"{reverse('comparison')}?{query}")
        if not allows(scope_of(request.user), Scope.PUBLISH):
            raise PermissionDenied(lacking(Scope.PUBLISH))
        snapshots.cite(query, comparison, user=person(request), actor=actor(request))
    return redirect("citations:detail", hash_)


@require_POST
@needs(Scope.PUBLISH)
@missing_is_404()
def refer(request: HttpRequest, hash_: str) -> HttpResponse:
    snapshot = models.Snapshot.objects.get(pk=hash_)
    name, series = request.POST.get("name", "").strip(), request.POST.get("series", "")
    saved = snapshots.save_reference(name, snapshot, series, user=person(request), actor=actor(request))
    notice = gettext("Saved. Comparisons offer @{name} as their baseline.")
    messages.success(request, notice.format(name=saved.name))
    return redirect("citations:detail", hash_)
