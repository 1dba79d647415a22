"""Results of other programs: the form to import them, what would be stored, and what was imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, pgettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.domain.errors import StateError, TeitenError, restored
from results.domain.imports.table import DELIMITERS, Role
from results.domain.imports.text import ENCODINGS, LARGEST_FILE_BYTES
from results.domain.imports.values import SourceFile
from results.domain.measurement.metrics import Better
from results.domain.messages import gettext_lazy as _
from results.foreign_results import store
from results.models.audit import Scope
from results.queries.runs.imports import import_of, imported_files, imported_trials, list_imports
from webapp.access import actor, allows, needs, person, scope_of
from webapp.bodies import takes_upload
from webapp.forms.imports import (
    COLUMN_PREFIXES,
    CSV,
    DECIMALS,
    UPLOAD,
    import_form,
    program_of,
    read_uploads,
    table_form,
)
from webapp.pages.common import PAGE, number, page_of
from webapp.problems import missing_is_404, status_of
from workers.registry import import_formats

_SHOWN_VALUES = 6
_ROLES = {
    Role.FACTOR: _("factor"),
    Role.METRIC: _("metric"),
    Role.REPLICATE: _("replicate"),
    Role.IGNORED: _("ignored"),
}
_OF_TABLE = ("encoding", "delimiter", "decimal", *COLUMN_PREFIXES)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The newest imports first, or those before one's run."""
    before = number(request.GET.get("before", ""))
    page = page_of(list_imports(before_run=before, limit=PAGE + 1), PAGE, attrgetter("run_id"), at=before)
    may_run = allows(scope_of(request.user), Scope.RUN)
    return render(request, "imports/index.html", {"page": page, "may_run": may_run})


@require_safe
@missing_is_404()
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """An import with its first trials, or those after one's place."""
    row = import_of(slug)
    after = number(request.GET.get("after", ""))
    trials = imported_trials(row.run_id, -1 if after is None else after, PAGE + 1)
    page = page_of(trials, PAGE, attrgetter("position"), "after", at=request.GET.get("after"))
    trial_of_file = {file.name: file.trial_id for file in imported_files(row.run_id)}
    files = [{**file, "trial_id": trial_of_file.get(file["name"])} for file in row.files]
    return render(request, "imports/detail.html", {"row": row, "page": page, "files": files})


@takes_upload(UPLOAD)
@require_http_methods(["GET", "POST"])
@needs(Scope.RUN)
def add(request: HttpRequest) -> HttpResponse:
    """The form; or, posted, what was previewed becomes a run."""
    if request.method == "GET":
        return render(request, "imports/add.html", _choices())
    try:
        files = read_uploads(request.FILES.getlist("file"))
        form = import_form(_fields(request, files), files)
        if request.POST.get("previewed") != form.fingerprint:
            raise StateError(
                _("What would be imported is not what the preview showed."),
                where="preview",
                why=_("A file or a field changed since."),
                todo=_("Look at the preview again, then import."),
            )
        run = store(form.draft, user=person(request), actor=actor(request))
    except TeitenError as error:
        context = _choices() | {"problem": restored(error.as_dict()), "fields": request.POST}
        return render(request, "imports/add.html", context, status=status_of(error))
    notice = gettext("Imported {name}: {n} trials.").format(name=form.draft.name, n=len(form.draft.trials))
    messages.success(request, notice)
    return redirect("runs:detail", run.pk)


@takes_upload(UPLOAD)
@require_POST
@needs(Scope.RUN)
def preview(request: HttpRequest) -> HttpResponse:
    """What would be stored of the files in the form, or what is wrong with them; nothing is stored."""
    context: dict[str, Any] = {}
    try:
        files = read_uploads(request.FILES.getlist("file"))
        fields = _fields(request, files)
        context["files"] = [(file, fields.get(f"levels.{file.name}", "")) for file in files]
        table = table_form(fields, files) if program_of(fields, files) == CSV else None
        if table:
            context |= _choices() | {"table": table}
        form = import_form(fields, files, table)
        beside = {name for trial in form.draft.trials for name in trial.files[1:]}
        context |= {"form": form, "configurations": _shown(form.arranged.configurations)}
        context["files"] = [pair for pair in context["files"] if pair[0].name not in beside]
    except TeitenError as error:
        context["problem"] = restored(error.as_dict())
    return render(request, "imports/_preview.html", context)


def _shown(configurations: Any) -> list[tuple[Any, list[tuple[Any, list[Any], int]]]]:
    """Return of each configuration its trials with their first values and how many more there are."""
    shown = []
    for one in configurations:
        trials = []
        for trial in one.trials:
            units = {metric.name: metric.unit for metric in trial.part.metrics}
            values = [(value, units[value.metric]) for value in trial.part.measurements]
            trials.append((trial, values[:_SHOWN_VALUES], max(0, len(values) - _SHOWN_VALUES)))
        shown.append((one, trials))
    return shown


def _choices() -> dict[str, Any]:
    return {
        "formats": import_formats().values(),
        "encodings": ENCODINGS,
        "delimiters": DELIMITERS,
        "decimals": DECIMALS,
        "roles": _ROLES,
        "betters": {
            Better.HIGHER: pgettext("direction", "higher"),
            Better.LOWER: pgettext("direction", "lower"),
            Better.NEITHER: pgettext("direction", "neither"),
        },
        "largest": LARGEST_FILE_BYTES,
    }


def _fields(request: HttpRequest, files: Sequence[SourceFile]) -> Mapping[str, str]:
    """Return the form's fields, without those of Django, and of files that are no longer chosen."""
    fields = {name: str(value) for name, value in request.POST.items() if name != "csrfmiddlewaretoken"}
    names = {file.name for file in files}
    if fields.pop("mapped", "") not in names:
        fields = {name: value for name, value in fields.items() if not name.startswith(_OF_TABLE)}
    return {
        name: value
        for name, value in fields.items()
        if not name.startswith("levels.") or name.removeprefix("levels.") in names
    }
