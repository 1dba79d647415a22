"""Endpoints by which a run leaves one Teiten and enters another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.domain.errors import ArchiveError
from results.domain.research_object.limits import MOST_BYTES
from results.exporting import export
from results.models.audit import Scope
from results.queries.runs.runs import run_row
from results.queries.shared.ids import known_id
from webapp.access import actor, person
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation
from webapp.api.runs import RunSerializer
from webapp.api.schema import refuses
from webapp.api.streams import Stream
from webapp.bodies import Upload
from webapp.problems import missing_is_404
from workers import tasks

ZIP = "application/zip"
KEY = OpenApiParameter(
    "Idempotency-Key",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="The same upload sent again with it gives the same answer; with another upload it is refused.",
)
_CHUNK = 1024 * 1024


class RunExport(Endpoint):
    queryset = models.Run.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @refuses(409)
    @extend_schema(
        summary="A run with its raw files, for another Teiten",
        operation_id="runs_export",
        responses={(200, ZIP): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, pk: int) -> StreamingHttpResponse:
        with missing_is_404():
            exported = export(known_id(pk, "run"))
        headers = {"Content-Disposition": f'attachment; filename="{exported.name}"'}
        return StreamingHttpResponse(Stream(request, exported.chunks), content_type=ZIP, headers=headers)


class RunUpload(Endpoint):
    queryset = models.Run.objects.all()
    serializer_class = RunSerializer
    write_scope = Scope.ADMIN
    upload = Upload(MOST_BYTES, write_scope)

    @refuses(409, 422)
    @extend_schema(
        summary="Import a run that another Teiten exported",
        operation_id="runs_import",
        request={ZIP: OpenApiTypes.BINARY},
        parameters=[OpenApiParameter("name", OpenApiTypes.STR, description="What the file is called."), KEY],
        responses={201: RunSerializer},
    )
    def create(self, request: Request) -> Response:
        name, key = request.query_params.get("name", ""), idempotency_key(request)
        run = tasks.import_upload(pieces(request), name, user=person(request), actor=actor(request), key=key)
        return self.respond(run_row(run.pk), 201)


def idempotency_key(request: Request) -> str:
    """Return the request's Idempotency-Key, '' without one. Raises ArchiveError for one that cannot be stored."""
    key = request.headers.get("Idempotency-Key", "")
    if key and not re.fullmatch(r"[\x21-\x7e]{1,200}", key):
        what = "The Idempotency-Key is not 1 to 200 characters of ASCII without spaces."
        raise ArchiveError(what, where="Idempotency-Key", todo="Send a UUID, for example.")
    return key


def pieces(request: Request) -> Iterator[bytes]:
    """Yield the body as it arrives: an archive may be larger than the memory."""
    while request.stream is not None and (piece := request.stream.read(_CHUNK)):
        yield piece
