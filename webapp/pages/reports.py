"""Reports: written in the browser, published as editions that never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from django.conf import settings
from django.contrib import messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from results import reports
from results.domain.errors import StateError, TeitenError
from results.domain.messages import COMMA, LANGUAGES, linked
from results.domain.messages import gettext_lazy as _
from results.models import Draft, Edition, Report
from results.models.audit import Scope
from results.queries.runs.runs import list_runs
from results.reports import Text, text_of
from results.standing import require_public
from webapp import urlstate
from webapp.access import actor, allows, may, needs, person, require_own, scope_of
from webapp.bibliography import bibtex
from webapp.documents.page import body, contents
from webapp.documents.words import in_language
from webapp.language import active_language
from webapp.pages.common import PAGE, Page, page_of
from webapp.pages.common import number as number_of
from webapp.problems import missing_is_404, status_of
from webapp.reports import editing, findings, templates
from webapp.reports.blocks import KINDS, Shelf
from webapp.reports.exports import FORMS, entry, file_of
from webapp.reports.publishing import document_of, preview, publish
from webapp.reports.source import block

LISTED_RUNS = 30
HEAVY = ("content", "contents", "facts", "source", "sources")  # of an edition
FEED_LENGTH = 50
Version = TypeVar("Version", Edition, Draft)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What was published; operators also see what they write, publishers what anybody writes."""
    member = allows(scope_of(request.user), Scope.RUN)
    context = {"editions": _editions(request), "member": member, "drafts": _drafts(request) if member else None}
    context["may_read"] = _may_read(request)
    return render(request, "reports/list.html", context)


def _may_read(request: HttpRequest) -> bool:
    """Whether the visitor may read the rest of Teiten: what is published is open to everybody."""
    return allows(scope_of(request.user), Scope.READ)


def _editions(request: HttpRequest) -> Page[Edition]:
    """Return a page of reports, each as the newest edition that is not withdrawn, or as the newest of them; with the
    numbers of its other editions."""
    withdrawn = Case(When(withdrawn_at=None, then=False), default=True)
    standing = Edition.objects.order_by("report_id", withdrawn, "-number").distinct("report_id").values("pk")
    others = Edition.objects.filter(report=OuterRef("report")).exclude(pk=OuterRef("pk")).order_by("-number")
    editions = Edition.objects.filter(pk__in=standing).annotate(others=ArraySubquery(others.values("number")))
    return _page(request, editions.defer(*HEAVY), "published_at", "before")


def _drafts(request: HttpRequest) -> Page[Draft]:
    """Return a page of the newest drafts of the reports that the visitor may edit."""
    newest = Draft.objects.order_by("report_id", "-version").distinct("report_id").values("pk")
    if not may(request, Scope.PUBLISH):
        newest = newest.filter(report__created_by=person(request))
    drafts = Draft.objects.filter(pk__in=newest).select_related("saved_by").defer("source", "sources")
    return _page(request, drafts, "saved_at", "drafts_before")


def _page(request: HttpRequest, rows: QuerySet[Version], time: str, field: str) -> Page[Version]:
    """Return the latest rows, or those before the one that the field of the address names."""
    before = number_of(request.GET.get(field, ""))
    if before:
        then = Subquery(rows.model._default_manager.filter(pk=before).values(time))
        rows = rows.filter(Q(**{f"{time}__lt": then}) | Q(**{time: then, "pk__lt": before}))
    return page_of(list(rows.order_by(f"-{time}", "-pk")[: PAGE + 1]), PAGE, attrgetter("pk"), field, at=before)


@needs(Scope.RUN)
def new(request: HttpRequest) -> HttpResponse:
    """Choose a kind and runs; what can be generated is filled in."""
    problem = None
    if request.method == "POST":
        try:
            report = _begin(request)
        except TeitenError as error:
            problem = error
        else:
            return redirect("reports:edit", report.pk)
    chosen = request.POST if request.method == "POST" else request.GET
    context = {
        "kinds": templates.KINDS,
        "languages": LANGUAGES,
        "runs": list_runs(archived=False, limit=LISTED_RUNS),
        "problem": problem,
        "kind": chosen.get("kind", "observation"),
        "language": chosen.get("language", active_language()),
        "title": chosen.get("title", ""),
        "chosen_runs": chosen.get("runs", ""),
    }
    return render(request, "reports/new.html", context, status=status_of(problem) if problem else 200)


def _begin(request: HttpRequest) -> Report:
    kind, language = request.POST.get("kind", ""), request.POST.get("language", active_language())
    if kind not in templates.KINDS:
        todo = _("There are {names}.", names=linked(COMMA, templates.KINDS))
        raise TeitenError(_("There is no kind {kind!r}.", kind=kind), where="kind", todo=todo)
    runs = urlstate.runs_of(f"run={request.POST.get('runs', '').replace(' ', '')}")
    query = f"run={','.join(map(str, runs))}"
    require_public(runs, _("part of a report"))
    with in_language(language):
        summary = findings.propose(query, _site(request) + reverse("comparison")) if runs else ""
        source = templates.begin(kind, runs, summary)
    user = person(request)
    author = (user.get_full_name() or user.get_username()) if user else ""
    text = Text(request.POST.get("title", "").strip(), author, language, source)
    return reports.create(text, user=user, actor=actor(request))


@needs(Scope.RUN)
@missing_is_404()
def edit(request: HttpRequest, report_id: int) -> HttpResponse:
    """The editor of the text in one language. What was typed is kept on the page whatever is wrong with it."""
    report = Report.objects.get(pk=report_id)
    require_own(request, [report.created_by_id], Scope.PUBLISH, "A draft is read and changed")
    version, base = _versions(request, report)
    stored = text_of(report.drafts.get(version=base))
    language = _written_in(request, stored)
    problem = None
    if request.method == "POST":
        text = editing.changed(stored, language, request.POST)
        try:
            saved = reports.save(report_id, text, version, user=person(request), actor=actor(request))
        except TeitenError as error:
            problem = error
        else:
            messages.success(request, gettext("Version {version} is saved.").format(version=saved.version))
            return redirect(_editor(report_id, language if language in text.languages else text.language))
    else:
        text = editing.with_language(stored, language, _site(request) + reverse("comparison"))
    context = {"report": report, "text": text, "language": language, "version": version, "problem": problem}
    context |= {"title": text.title_in(language), "source": text.source_in(language), "unsaved": text != stored}
    context |= {"stored_languages": stored.languages, "language_name": LANGUAGES.get(language, language)}
    context |= {"base": base, "old": base if base != version else 0, "may_publish": may(request, Scope.PUBLISH)}
    context |= _tools(report) | _preview(request, text, language)
    status = 409 if isinstance(problem, StateError) else 400 if problem else 200
    return render(request, "reports/edit.html", context, status=status)


def _versions(request: HttpRequest, report: Report) -> tuple[int, int]:
    """Return the version that was the newest when the page was made, and that whose text is in the editor."""
    if request.method == "POST":
        version = _number(request.POST.get("version", ""))
        return version, _number(request.POST.get("base", str(version)))
    return report.version, _number(request.GET.get("version", str(report.version)))


def _written_in(request: HttpRequest, text: Text) -> str:
    """Return in which language the text is edited: that which is asked for, or of those that it has the reader's."""
    if request.method == "POST":
        return request.POST.get("text") or text.language
    language = request.GET.get("text", "")
    return language if language in LANGUAGES else text.language_for(active_language())


def _editor(report_id: int, language: str) -> str:
    return f"{reverse('reports:edit', args=[report_id])}?text={language}"


def _tools(report: Report) -> dict[str, Any]:
    return {
        "drafts": report.drafts.select_related("saved_by").defer("source", "sources"),
        "editions": report.editions.defer(*HEAVY).order_by("-number"),
        "snippets": [(kind.title, block(name, **_SAMPLES.get(name, _QUERY))) for name, kind in KINDS.items()],
        "languages": LANGUAGES,
    }


_QUERY: Mapping[str, str | int] = {"query": "run=1"}
_SAMPLES: Mapping[str, Mapping[str, str | int]] = {
    "versions": {},
    "grid": {},
    "topology": {"run": 1},
    "method": {"run": 1},
}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Http404(_("That is no number of a version."))
    return int(text)


def _site(request: HttpRequest) -> str:
    """Where readers find Teiten, whatever way the author came."""
    return settings.TEITEN_ADDRESS or request.build_absolute_uri("/").rstrip("/")


def _preview(request: HttpRequest, text: Text, language: str) -> dict[str, Any]:
    document, troubles = preview(text, language, Shelf(_site(request), timezone.now()))
    html = body(document)
    return {"document": document, "body": html, "contents": contents(html), "troubles": troubles}


@require_POST
@needs(Scope.RUN)
def show(request: HttpRequest) -> HttpResponse:
    """The preview of what stands in the editor."""
    text = editing.sent(request.POST)
    return render(request, "reports/_preview.html", _preview(request, text, text.language))


@require_POST
@needs(Scope.PUBLISH)
@missing_is_404()
def release(request: HttpRequest, report_id: int) -> HttpResponse:
    """Publish the draft that the author saw."""
    draft = Draft.objects.get(report_id=report_id, version=_number(request.POST.get("version", "")))
    edition = publish(draft, Shelf(_site(request), timezone.now()), user=person(request), actor=actor(request))
    notice = gettext("Published as edition {number}. It never changes.")
    messages.success(request, notice.format(number=edition.number))
    return redirect("reports:edition", report_id, edition.number)


@require_safe
@missing_is_404()
def newest(request: HttpRequest, report_id: int) -> HttpResponse:
    """The address to give to others: it leads to the newest edition."""
    there = list(Edition.objects.filter(report_id=report_id).defer(*HEAVY).order_by("-number"))
    if not there:
        raise Http404(_("Report {report} is not published.", report=report_id))
    return redirect("reports:edition", report_id, _standing(there).number)


def _standing(editions: Sequence[Edition]) -> Edition:
    """Return the newest that is not withdrawn, or where all are the newest of them.

    editions: of one report, the newest first"""
    return next((one for one in editions if not one.withdrawn_at), editions[0])


@require_safe
@missing_is_404()
def edition(request: HttpRequest, report_id: int, number: int) -> HttpResponse:
    """An edition as it was published, or the notice of its withdrawal."""
    shown = Edition.objects.select_related("published_by").get(report_id=report_id, number=number)
    others = list(Edition.objects.filter(report_id=report_id).defer(*HEAVY).order_by("-number"))
    context = {"edition": shown, "newest": _standing(others), "may_read": _may_read(request)}
    if shown.withdrawn_at:
        return render(request, "reports/withdrawn.html", context, status=410)
    address = _address(request, shown)
    document = document_of(shown, address, active_language())
    html = body(document)
    context |= {
        "document": document,
        "body": html,
        "contents": contents(html),
        "address": address,
        "forms": [(form, label) for form, (label, _written) in FORMS.items()],
        "bibtex": bibtex(entry(shown, address, document.language)),
        "others": [(code, LANGUAGES[code]) for code in shown.languages if code != document.language],
        "in_language": f"?lang={document.language}" if shown.titles else "",
        "may_withdraw": allows(scope_of(request.user), Scope.PUBLISH),
    }
    return render(request, "reports/edition.html", context)


def _address(request: HttpRequest, shown: Edition) -> str:
    return _site(request) + reverse("reports:edition", args=[shown.report_id, shown.number])


@require_safe
@missing_is_404()
def export(request: HttpRequest, report_id: int, number: int, form: str) -> HttpResponseBase:
    shown = Edition.objects.get(report_id=report_id, number=number)
    if shown.withdrawn_at:
        return redirect("reports:edition", report_id, number)
    file = file_of(shown, form, _address(request, shown), active_language())
    disposition = content_disposition_header(as_attachment=True, filename=file.name) or "attachment"
    return HttpResponse(file.content, content_type=file.content_type, headers={"Content-Disposition": disposition})


@require_POST
@needs(Scope.PUBLISH)
@missing_is_404()
def withdraw(request: HttpRequest, report_id: int, number: int) -> HttpResponse:
    reports.withdraw(
        Edition.objects.get(report_id=report_id, number=number), request.POST.get("reason", ""), actor=actor(request)
    )
    messages.success(request, gettext("Withdrawn. A notice stands in its place."))
    return redirect("reports:list")


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """What was published and withdrawn, newest first, for feed readers."""
    own = request.build_absolute_uri(reverse("reports:feed"))
    listed = request.build_absolute_uri(reverse("reports:list"))
    atom = Atom1Feed(gettext("Teiten: reports"), listed, "", feed_url=own)
    for one in Edition.objects.defer(*HEAVY)[:FEED_LENGTH]:
        address = _address(request, one)
        notice = gettext("Edition {number}.").format(number=one.number)
        if one.withdrawn_at:
            notice = gettext("Withdrawn: {reason}").format(reason=one.withdrawal)
        atom.add_item(
            one.title_in(active_language()),
            address,
            notice,
            unique_id=f"urn:sha256:{one.hash}",
            pubdate=one.published_at,
            updateddate=one.withdrawn_at or one.published_at,
            author_name=", ".join(one.authors.splitlines()),
        )
    return HttpResponse(atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")
