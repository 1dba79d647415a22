"""The endpoint by which a run leaves one Teiten for another."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from results import models
from results.exporting import export
from results.queries.shared.ids import known_id
from webapp.api.common import Endpoint, IgnoreAcceptNegotiation
from webapp.problems import missing_is_404

ZIP = "application/zip"


class RunExport(Endpoint):
    queryset = models.Run.objects.all()
    content_negotiation_class = IgnoreAcceptNegotiation

    @extend_schema(
        summary="A run with its raw files, for another Teiten",
        operation_id="runs_export",
        responses={(200, ZIP): OpenApiTypes.BINARY},
    )
    def retrieve(self, request: Request, pk: int) -> StreamingHttpResponse:
        with missing_is_404():
            exported = export(known_id(pk, "run"))
        headers = {"Content-Disposition": f'attachment; filename="{exported.name}"'}
        return StreamingHttpResponse(exported.chunks, content_type=ZIP, headers=headers)
