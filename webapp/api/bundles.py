"""Raw files: an attempt's whole archive, or one file of it."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.http import FileResponse, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request

from results import models
from results.queries.trials import AttemptRow, shown_attempt
from webapp.api.common import AnyAccept, Endpoint, attempt_number, missing_is_404
from webapp.api.trials import ATTEMPT


class Bundle(Endpoint):
    queryset = models.Trial.objects.all()
    content_negotiation_class = AnyAccept

    @extend_schema(
        summary="All raw files of a trial",
        operation_id="trials_bundle",
        parameters=[ATTEMPT],
        responses={(200, "application/gzip"): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, pk: int) -> FileResponse:
        attempt = _attempt(request, pk)
        name = f"trial-{pk}-{attempt.number}.tar.gz"
        return FileResponse(
            _archive(attempt).open("rb"), as_attachment=True, filename=name, content_type="application/gzip"
        )


class BundleFile(Endpoint):
    queryset = models.Trial.objects.all()
    content_negotiation_class = AnyAccept

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
        content = _member(_archive(_attempt(request, pk)), path)
        kind = "text/plain; charset=utf-8" if _is_text(content) else "application/octet-stream"
        response = HttpResponse(content, content_type=kind)
        response.headers["Content-Disposition"] = FileResponse(
            filename=PurePosixPath(path).name, as_attachment=True
        ).headers.get("Content-Disposition", "attachment")
        return response


def _attempt(request: Request, pk: int) -> AttemptRow:
    with missing_is_404():
        return shown_attempt(pk, attempt_number(request))


def _archive(attempt: AttemptRow) -> Path:
    """Where the archive lies; never outside the bundle folder."""
    folder = Path(settings.TEITEN_BUNDLE_DIR).resolve()
    path = (folder / attempt.bundle).resolve()
    if not attempt.bundle or not path.is_relative_to(folder):
        raise exceptions.NotFound("No raw files are kept of this attempt.")
    if not path.is_file():
        raise exceptions.NotFound(
            f"The archive {attempt.bundle} is not in the bundle folder. Restore it from a backup."
        )
    return path


def _member(archive: Path, name: str) -> bytes:
    """A file of the archive by its exact name: nothing is unpacked, so that no name can lead outside."""
    with tarfile.open(archive, "r:gz") as bundle:
        for entry in bundle:
            stream = bundle.extractfile(entry) if entry.isreg() and entry.name == name else None
            if stream is not None:
                return stream.read()
    raise exceptions.NotFound(f"There is no file {name!r} in this bundle.")


def _is_text(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content
