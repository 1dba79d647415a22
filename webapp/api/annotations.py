"""Endpoints of annotations: notes on moments, shown on trends."""

from __future__ import annotations

from typing import Any

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import annotating, models
from results.models.audit import Scope
from results.queries.trends.annotations import AnnotationRow, list_annotations
from webapp.access import actor, may, person
from webapp.api.common import Endpoint, Links, pages_by
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404


class AnnotationSerializer(ValueSerializer):
    """A note on a moment.

    - `at`: the moment
    - `plan`: name of the plan on whose trends it is shown; empty for all trends
    """

    value = AnnotationRow
    leave_out = ("author_id",)
    links = Links(self=("api:annotation", "id"))


class NewAnnotationSerializer(serializers.Serializer[Any]):
    """A note to be made."""

    at = serializers.DateTimeField(help_text="With a zone: 2026-01-31T02:00:00Z.")
    text = serializers.CharField(max_length=annotating.MAX_LENGTH)
    plan = serializers.CharField(required=False, default="", help_text="Name of a plan; without it on all trends.")


class AnnotationFilter(filters.FilterSet):
    plan = filters.CharFilter(field_name="plan__name", label="Name of a plan.")


class Annotations(Endpoint):
    write_scope = Scope.PUBLISH
    queryset = models.Annotation.objects.all()
    serializer_class = AnnotationSerializer
    pagination_class = pages_by("-id")
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = AnnotationFilter

    @extend_schema(summary="All annotations")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list_annotations(ids=ids))

    @extend_schema(summary="One annotation")
    def retrieve(self, request: Request, pk: int) -> Response:
        return self._respond_with(pk)

    @extend_schema(summary="Note something", request=NewAnnotationSerializer, responses={201: AnnotationSerializer})
    def create(self, request: Request) -> Response:
        body = NewAnnotationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        annotation = annotating.annotate(**body.validated_data, user=person(request), actor=actor(request))
        return self._respond_with(annotation.pk, 201)

    @extend_schema(summary="Remove an annotation", responses={204: None})
    def destroy(self, request: Request, pk: int) -> Response:
        """Remove an annotation: its author may, and whoever has the scope `admin`."""
        with missing_is_404():
            annotation = models.Annotation.objects.get(pk=pk)
        user = person(request)
        is_author = user is not None and user.pk == annotation.created_by_id
        if not is_author and not may(request, Scope.ADMIN):
            raise exceptions.PermissionDenied("Only its author or an administrator may remove an annotation.")
        annotating.remove(annotation, actor(request))
        return Response(status=204)

    def _respond_with(self, pk: int, status: int = 200) -> Response:
        annotations = list_annotations(ids=[pk])
        if not annotations:
            raise exceptions.NotFound(f"There is no annotation {pk}.")
        return self.respond(annotations[0], status)
