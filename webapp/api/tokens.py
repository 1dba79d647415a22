"""Endpoints of API tokens: everybody's own; those of others only with the scope `admin`."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from results import models
from results.models.audit import Scope
from webapp.access import ScopePermission, actor, allows, create_token, person, revoke_token, scope_of
from webapp.api.common import Endpoint, fields_of, pages_by
from webapp.api.schema import refuses
from webapp.forms.token import LONGEST_DAYS


class TokenSerializer(serializers.ModelSerializer[models.ApiToken]):
    """A token without its secret, of which only a digest is stored."""

    user = serializers.CharField(source="user.username", read_only=True)
    scope = serializers.CharField(read_only=True, help_text="read, run, publish or admin.")

    class Meta:
        model = models.ApiToken
        fields = ("id", "user", "name", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")
        read_only_fields = fields


class TokenFieldsSerializer(serializers.Serializer[Any]):
    """A token to be made.

    - `name`: what the token is for
    """

    name = serializers.CharField(max_length=100)
    scope = serializers.CharField(default=Scope.READ.value, help_text="read, run, publish or admin; at most your own.")

    days = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=LONGEST_DAYS,
        help_text="That it is valid; without, until it is revoked.",
    )

    def validate_scope(self, scope: str) -> Scope:
        if scope not in Scope.values:
            raise exceptions.ValidationError(f"{scope!r} is not one of {', '.join(Scope.values)}.")
        return Scope(scope)


class NewTokenSerializer(serializers.Serializer[Any]):
    """A new token with its secret, which no other response shows."""

    token = TokenSerializer(read_only=True)
    secret = serializers.CharField(read_only=True)


class SessionRequired(exceptions.PermissionDenied):
    default_detail = "A token makes and revokes no tokens: one that leaked could make others that outlive it."
    todo = "Sign in, and make or revoke tokens on the account page."


class SessionPermission(BasePermission):
    """Only a person who is signed in may make or revoke tokens."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.method in ("POST", "DELETE") and isinstance(request.auth, models.ApiToken):
            raise SessionRequired
        return True


class Tokens(Endpoint):
    permission_classes = (ScopePermission, SessionPermission)
    queryset = models.ApiToken.objects.all()
    serializer_class = TokenSerializer
    pagination_class = pages_by("-id")

    def get_queryset(self) -> QuerySet[Any]:
        """Return the tokens that the user may list or revoke: their own, or with the scope `admin` anybody's."""
        tokens = models.ApiToken.objects.select_related("user")
        name = self.request.query_params.get("user")
        if name is None and self.action == "list":
            return tokens.filter(user=_owner(self.request))
        if not allows(_scope(self.request), Scope.ADMIN):
            tokens = tokens.filter(user=_owner(self.request))
        return tokens.filter(user__username=name) if name is not None else tokens

    @refuses(403)
    @extend_schema(
        summary="Your own tokens",
        parameters=[OpenApiParameter("user", OpenApiTypes.STR, description="Another's: needs the scope admin.")],
    )
    def list(self, request: Request) -> Response:
        name = request.query_params.get("user")
        if name not in (None, _owner(request).get_username()) and not allows(_scope(request), Scope.ADMIN):
            raise exceptions.PermissionDenied("Tokens of others need the scope 'admin'.")
        return self.page_of_models()

    @extend_schema(
        summary="Make a token; its secret is shown once",
        request=TokenFieldsSerializer,
        responses={201: NewTokenSerializer},
    )
    def create(self, request: Request) -> Response:
        body = TokenFieldsSerializer(data=fields_of(request))
        body.is_valid(raise_exception=True)
        scope: Scope = body.validated_data["scope"]
        if not allows(_scope(request), scope):
            raise exceptions.PermissionDenied(f"You do not have the scope {scope.value!r} yourself.")
        fields = body.validated_data
        token, secret = create_token(_owner(request), fields["name"], scope, actor(request), fields.get("days"))
        answer = Response(NewTokenSerializer({"token": token, "secret": secret}).data, status=201)
        answer["Cache-Control"] = "no-store"
        return answer

    @extend_schema(summary="Revoke a token", responses={204: None})
    def destroy(self, request: Request, pk: int) -> Response:
        token = self.get_queryset().filter(pk=pk).first()
        if token is None or not revoke_token(token, actor(request)):
            raise exceptions.NotFound(f"There is no token {pk} of yours that is in use.")
        return Response(status=204)


def _owner(request: Request) -> Any:
    owner = person(request)
    if owner is None:
        raise exceptions.NotAuthenticated()
    return owner


def _scope(request: Request) -> Scope | None:
    return scope_of(request.user, request.auth if isinstance(request.auth, models.ApiToken) else None)
