"""Endpoints of raw files: the archive of an attempt, or one file of it."""

from __future__ import annotations

from pathlib import PurePosixPath

from django.http import FileResponse, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from results import models
from results.queries.runs.trials import shown_attempt
from webapp import bundles
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation, attempt_number
from webapp.api.trials import ATTEMPT
from webapp.problems import missing_is_404


class Bundle(Endpoint):
    queryset = models.Trial.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="All raw files of a trial",
        operation_id="trials_bundle",
        parameters=[ATTEMPT],
        responses={(200, "application/gzip"): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, pk: int) -> FileResponse:
        with missing_is_404():
            return bundles.download(shown_attempt(pk, attempt_number(request)), pk)


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
