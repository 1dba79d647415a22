"""Endpoints of citations (comparisons kept as they were) and of references (one series of a citation, named)."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models, snapshots
from results.models.audit import Scope
from results.queries.comparison.citations import (
    ChangedValue,
    ChangedVerdict,
    SnapshotRow,
    Standing,
    cited,
    list_snapshots,
)
from webapp import citations
from webapp.access import actor, person
from webapp.api.columns import MORE, USUAL
from webapp.api.common import Endpoint, Links, address, pages_by
from webapp.api.comparison import FILES, ComparisonSerializer, shown
from webapp.api.schema import refuses
from webapp.api.values import ValueSerializer
from webapp.problems import missing_is_404


class CitationLinks(Links):
    """Its files besides."""

    def to_representation(self, row: SnapshotRow) -> dict[str, str]:
        request = self.context.get("request")
        files = {name: address(request, "api:citation-file", row.hash, form) for name, form in FILES.items()}
        return super().to_representation(row) | files


class CitationSerializer(ValueSerializer):
    """A citation without its content.

    - `query`: the complete query string of the comparison's address
    """

    value = SnapshotRow
    links = CitationLinks(self=("api:citation", "hash"), page=("citations:detail", "hash"))


class RereadSerializer(ValueSerializer):
    """A trial's value in one cell as cited, and as read again since."""

    value = ChangedValue


class TurnedSerializer(ValueSerializer):
    """A cell with another verdict today."""

    value = ChangedVerdict


class StandingSerializer(ValueSerializer):
    """What the same comparison would show otherwise today.

    - `gone`: cited trials that are deleted, or of which a cited value does not count any more
    - `changed`: values that were read again as others
    - `added`: trials that the same comparison has besides, or of which it has another value
    - `turned`: cells with another verdict
    - `cells`: cited ones (panel, x, series) that are not there
    - `rule`: today's
    - `why`: why the comparison cannot be made any more; '' where it can
    """

    value = Standing
    changed = RereadSerializer(many=True, read_only=True)
    turned = TurnedSerializer(many=True, read_only=True)


class CitationDetailSerializer(serializers.Serializer[Any]):
    """A comparison as it was cited, with all columns.

    - `standing`: what the same comparison would show otherwise today
    """

    citation = CitationSerializer(read_only=True)
    comparison = ComparisonSerializer(read_only=True)
    standing = StandingSerializer(read_only=True)


class QuestionSerializer(serializers.Serializer[Any]):
    """A comparison to be cited.

    - `query`: what follows the '?' in its address
    """

    query = serializers.CharField()


class Citations(Endpoint):
    write_scope = Scope.PUBLISH
    queryset = models.Snapshot.objects.all()
    serializer_class = CitationSerializer
    pagination_class = pages_by("-created_at", 100)
    row_key = "hash"

    @extend_schema(summary="All citations")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda hashes: list_snapshots(hashes=hashes))

    @refuses(409)
    @extend_schema(summary="Cite a comparison", request=QuestionSerializer, responses={201: CitationSerializer})
    def create(self, request: Request) -> Response:
        body = QuestionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        query, comparison = citations.compare_query(body.validated_data["query"])
        snapshot = snapshots.cite(query, comparison, user=person(request), actor=actor(request))
        return self.respond(list_snapshots(hashes=[snapshot.pk])[0], 201)


class Citation(Endpoint):
    queryset = models.Snapshot.objects.all()
    serializer_class = CitationDetailSerializer

    @extend_schema(summary="A comparison as it was cited", operation_id="citations_retrieve")
    def retrieve(self, request: Request, pk: str) -> Response:
        with missing_is_404():
            citation = cited(pk)
        comparison, context = citation.comparison, self.get_serializer_context()
        return Response(
            {
                "citation": CitationSerializer(citation.row, context=context).data,
                "comparison": shown(request, comparison, USUAL + MORE, comparison.selection),
                "standing": StandingSerializer(citations.compare_with_today(citation)).data,
            }
        )


class ReferenceSerializer(serializers.ModelSerializer[models.Reference]):
    """A series of a citation under a name: `baseline=@name` compares with it.

    - `citation`: hash of the citation
    - `series`: name of the series
    """

    name = serializers.CharField(max_length=63)
    citation = serializers.CharField(source="snapshot_id")

    class Meta:
        model = models.Reference
        fields = ("name", "citation", "series", "created_at")
        read_only_fields = ("created_at",)


class References(Endpoint):
    write_scope = Scope.PUBLISH
    queryset = models.Reference.objects.all()
    serializer_class = ReferenceSerializer
    pagination_class = pages_by("name", 100)

    def get_queryset(self) -> QuerySet[Any]:
        return models.Reference.objects.all()

    @extend_schema(summary="All references")
    def list(self, request: Request) -> Response:
        return self.page_of_models()

    @refuses(404, 409)
    @extend_schema(summary="Save a line of a citation as a reference", responses={201: ReferenceSerializer})
    def create(self, request: Request) -> Response:
        body = self.get_serializer(data=request.data)
        body.is_valid(raise_exception=True)
        fields = body.validated_data
        with missing_is_404():
            snapshot = models.Snapshot.objects.get(pk=fields["snapshot_id"])
        reference = snapshots.save_reference(
            fields["name"], snapshot, fields["series"], user=person(request), actor=actor(request)
        )
        return self.respond(reference, 201)
