"""Endpoint of the audit log, for administrators."""

from __future__ import annotations

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.models.audit import Scope
from webapp.api.common import Endpoint, pages_by
from webapp.api.schema import refuses


class AuditEntrySerializer(serializers.ModelSerializer[models.AuditEntry]):
    """Something that somebody did.

    - `actor`: a user's name, 'token NAME (user)', 'schedule' or 'command …'
    - `detail`: what was set; of a change `before` has what was there
    - `address`: from where; empty for a command or a worker
    """

    detail = serializers.DictField(read_only=True)

    class Meta:
        model = models.AuditEntry
        fields = ("id", "at", "actor", "verb", "object", "detail", "address")
        read_only_fields = fields


class AuditFilter(filters.FilterSet):
    actor = filters.CharFilter("actor", label="Who.")
    verb = filters.CharFilter("verb", label="Did what.")
    object = filters.CharFilter("object", label="To what: 'run 12', 'agent db1'.")
    address = filters.CharFilter("address", label="From where.")


class AuditLog(Endpoint):
    read_scope = Scope.ADMIN
    queryset = models.AuditEntry.objects.all()
    serializer_class = AuditEntrySerializer
    pagination_class = pages_by("-id", 200)
    filter_backends = (filters.DjangoFilterBackend,)
    filterset_class = AuditFilter

    @refuses(403)
    @extend_schema(summary="Who did what, newest first", operation_id="audit_list")
    def list(self, request: Request) -> Response:
        return self.page_of(lambda ids: list(models.AuditEntry.objects.filter(pk__in=ids)))
