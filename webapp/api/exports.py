"""Files of a comparison, and of one that was cited: for a paper, a slide, a statistics program."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from results import models
from results.domain.errors import TeitenError
from results.queries.comparison.citations import cited
from webapp import urlstate
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation, address
from webapp.api.comparison import QUESTION
from webapp.citations import entry, published_in
from webapp.compare.state import shortest
from webapp.computed import compared
from webapp.exports.comparison import Exported, Source
from webapp.exports.forms import BIBLIOGRAPHIES, FORMS, Choice, File, bibliography, file_of
from webapp.problems import missing_is_404
from webapp.urlstate import NO_VIEW

FORM = OpenApiParameter(
    "form", OpenApiTypes.STR, OpenApiParameter.PATH, description="The file's form.", enum=list(FORMS)
)
_CITED = [*FORMS, *BIBLIOGRAPHIES]
CITED = OpenApiParameter("form", OpenApiTypes.STR, OpenApiParameter.PATH, description="The file's form.", enum=_CITED)
FIGURE = [
    OpenApiParameter("figure", OpenApiTypes.INT, description="SVG and PNG: which figure of the page, from 1 on."),
    OpenApiParameter(
        "shape",
        description="SVG and PNG: page (default), slide (16:9), or print (17 cm wide, for a print without colours).",
    ),
    OpenApiParameter("view", description="How it is drawn: ratio, speedup or latency; without it the values."),
    OpenApiParameter("axes", description="log or linear; without it the page's choice."),
    OpenApiParameter("scale", description="shared: one scale for all panels."),
]


_TYPES = {form.content_type for form in FORMS.values()}


def _files(content_types: Collection[str]) -> dict[Any, Any]:
    """Return what files of these types are in the schema."""
    types = sorted({one.partition(";")[0] for one in content_types})
    return {(200, one): OpenApiTypes.ANY if one.endswith("json") else OpenApiTypes.BINARY for one in types}


class ComparisonFile(Endpoint):
    queryset = models.Run.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="A comparison as a file: for a paper, a statistics program, a slide",
        operation_id="comparison_file",
        parameters=[*QUESTION, *FIGURE, FORM],
        responses=_files(_TYPES),
    )
    def retrieve(self, request: Request, form: str) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        comparison = compared(urlstate.read(query, ("figure", "shape")))
        view = urlstate.read_view(query)
        page = f"{address(request, 'comparison')}?{urlstate.write(shortest(comparison.selection, comparison), view)}"
        one = Exported(comparison, view, source(request, page))
        return as_response(file_of(one, form, choice(request)))


class CitationFile(Endpoint):
    queryset = models.Snapshot.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="A cited comparison as a file",
        operation_id="citations_file",
        parameters=[*FIGURE[:2], CITED],
        responses=_files(_TYPES | set(BIBLIOGRAPHIES.values())),
    )
    def retrieve(self, request: Request, pk: str, form: str) -> HttpResponse:
        with missing_is_404():
            citation = cited(pk)
        page = address(request, "citations:detail", pk)
        if form in BIBLIOGRAPHIES:
            cite = entry(citation, page, published_in(citation.row.runs))
            return as_response(bibliography(cite, form))
        one = Exported(citation.comparison, NO_VIEW, source(request, page))
        return as_response(file_of(one, form, choice(request)))


def source(request: Request, page: str) -> Source:
    return Source(page, request.build_absolute_uri("/").rstrip("/"), timezone.now())


def choice(request: Request) -> Choice:
    """Which figure, and for what. Raises TeitenError."""
    number = request.query_params.get("figure", "1")
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        raise TeitenError(f"{number!r} is not the number of a figure.", where="figure", todo="Write figure=1.")
    return Choice(int(number), request.query_params.get("shape", ""))


def as_response(file: File) -> HttpResponse:
    disposition = content_disposition_header(as_attachment=True, filename=file.name)
    return HttpResponse(
        file.content, content_type=file.content_type, headers={"Content-Disposition": disposition or "attachment"}
    )
