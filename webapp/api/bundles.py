"""Endpoints of raw files: the archive of an attempt, or one file of it."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.http import FileResponse, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.models.audit import Scope
from results.queries.runs.trials import list_trials, shown_attempt
from webapp import bundles
from webapp.access import actor, person
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation, attempt_number
from webapp.api.transfer import KEY, idempotency_key, pieces
from webapp.api.trials import ATTEMPT, TrialSerializer
from webapp.bodies import Upload
from webapp.problems import missing_is_404
from workers import tasks

GZIP = "application/gzip"


class Bundle(Endpoint):
    queryset = models.Trial.objects.all()
    serializer_class = TrialSerializer
    write_scope = Scope.ADMIN
    upload = Upload(tasks.MOST_BUNDLE_BYTES, write_scope)
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="All raw files of a trial",
        operation_id="trials_bundle",
        parameters=[ATTEMPT],
        responses={(200, GZIP): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, pk: int) -> FileResponse:
        with missing_is_404():
            return bundles.download(shown_attempt(pk, attempt_number(request)), pk)

    @extend_schema(
        summary="Upload the bundle of a trial that was measured elsewhere",
        operation_id="trials_bundle_upload",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[KEY],
        responses={200: TrialSerializer, 201: TrialSerializer},
    )
    def create(self, request: Request, pk: int) -> Response:
        with missing_is_404():
            _, stored = tasks.receive_bundle(
                pk, pieces(request), user=person(request), actor=actor(request), key=idempotency_key(request)
            )
        return self.respond(list_trials(ids=[pk])[0], 201 if stored else 200)


class BundleFile(Endpoint):
    queryset = models.Trial.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="One raw file of a trial",
        operation_id="trials_file",
        parameters=[
            ATTEMPT,
            OpenApiParameter("path", OpenApiTypes.STR, "path", description="As in the attempt's `files`."),
        ],
        responses={
            (200, "text/plain"): OpenApiTypes.STR,
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
        },
    )
    def retrieve(self, request: Request, pk: int, path: str) -> HttpResponse:
        with missing_is_404():
            content = bundles.read_file(shown_attempt(pk, attempt_number(request)), path)
        content_type = "text/plain; charset=utf-8" if _is_text(content) else "application/octet-stream"
        response = HttpResponse(content, content_type=content_type)
        response.headers["Content-Disposition"] = FileResponse(
            filename=PurePosixPath(path).name, as_attachment=True
        ).headers.get("Content-Disposition", "attachment")
        return response


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content
