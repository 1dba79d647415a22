"""Who may do what: one ladder. People sign in and have a role; programs carry a token with a scope, which is never
more than its owner's role. Each may what those before may.

    role           scope    may
    reader         read     GET everything (also anonymous visitors where TEITEN_OPEN_READING is on)
    operator       run      store, run, schedule and watch plans; cancel, repeat and extend runs, retry trials; tag,
                            archive and delete own runs; archive plans, delete own ones; import results of other
                            programs; own drafts of reports
    publisher      publish  what runs count for; tags and archiving of all runs; annotations, citations, references;
                            all drafts of reports; publishing and withdrawing reports
    administrator  admin    agents, host keys, host factors, tokens of others, webhooks; deleting runs and plans of
                            others; importing runs that another Teiten measured; the audit log; bringing code to an
                            agent that takes none from others (`results.plan_code`): to run, repeat, extend, retry or
                            schedule a plan with code of its own

An account without a role is a reader; a closed one may nothing. Private runs are there for their authors, who may make
them public, and for administrators (`results.viewer`).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from results import plan_code
from results.domain.errors import CodeError, Problem
from results.domain.messages import Message, localized
from results.domain.messages import gettext_lazy as _
from results.domain.plan import Kinds, Plan
from results.domain.states import Standing
from results.models import ApiToken, AuditEntry, Member, Run
from results.models.audit import Role, Scope, acting_from
from results.plan_code import AgentNames, agents_without_code
from results.viewer import NOBODY, Viewer, read_as
from webapp.replica import read_with_token

SCOPES = {
    Role.READER: Scope.READ,
    Role.OPERATOR: Scope.RUN,
    Role.PUBLISHER: Scope.PUBLISH,
    Role.ADMINISTRATOR: Scope.ADMIN,
}
ROLES = {scope: role for role, scope in SCOPES.items()}
ORDER = list(ROLES)
# What is published is public; /metrics asks for a token itself, as the API does.
OPEN_PATHS = ("/account/", "/static/", "/reports/", "/metrics")
NO_DELETION = _("A run is deleted by its author, or by an administrator.")
NO_PLAN_DELETION = _("A plan is deleted by its author, or by an administrator.")
# what `require_own` says, by the beginning that pages and API give
_OWN = {
    "A draft is read and changed": _("A draft is read and changed by its author, or by one with the role {role}."),
    "A run is archived and put back": _(
        "A run is archived and put back by its author, or by one with the role {role}."
    ),
    "A run is made private or public": _(
        "A run is made private or public by its author, or by one with the role {role}."
    ),
    "A run is tagged": _("A run is tagged by its author, or by one with the role {role}."),
    "A run is tagged, archived and put back": _(
        "A run is tagged, archived and put back by its author, or by one with the role {role}."
    ),
}
_STANDING = {
    Standing.EXCLUDED: _("A plan whose runs are excluded: {lacking}"),
    Standing.KEPT: _("A plan whose runs are kept: {lacking}"),
}
View = Callable[..., HttpResponseBase]


def scope_of(user: User | AnonymousUser, token: ApiToken | None = None) -> Scope | None:
    """Return the highest scope of a visitor, None for one who may not even read. A token never exceeds its owner."""
    if not user.is_authenticated:
        return Scope.READ if settings.TEITEN_OPEN_READING else None
    if not user.is_active:
        return None
    user_scope = SCOPES[role_of(user)]
    return min(user_scope, Scope(token.scope), key=ORDER.index) if token else user_scope


def role_of(user: User) -> Role:
    member: Member | None = getattr(user, "member", None)
    return Role(member.role) if member else Role.READER


@transaction.atomic
def set_role(user: User, role: Role, actor: str) -> None:
    """Give an account a role, and file it in the audit log."""
    before = role_of(user)
    user.member, created = Member.objects.update_or_create(user=user, defaults={"role": role})
    if role == before and not created:
        return
    AuditEntry.objects.create(
        actor=actor, verb="set role", object=f"user {user.get_username()}", detail={"role": role, "before": before}
    )


class Accounts(ModelBackend):
    """Signs in by name and password, and reads an account with its role: no query more a request."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.select_related("member").filter(pk=user_id).first()
        return user if self.user_can_authenticate(user) else None


def allows(granted: Scope | None, needed: Scope) -> bool:
    return granted is not None and ORDER.index(granted) >= ORDER.index(needed)


def needs(scope: Scope) -> Callable[[View], View]:
    """Decorate a page that needs a scope: a visitor without it is sent to sign in, a member without it gets 403."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked_view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if allows(scope_of(request.user), scope):
                return view(request, *args, **kwargs)
            if request.user.is_authenticated:
                raise PermissionDenied(lacking(scope))
            return to_sign_in(request)

        return checked_view

    return decorate


def lacking(scope: Scope) -> str:
    """Return what a visitor lacks who may not do something that needs this scope."""
    return _(
        "This needs the role {role}, or a token of one with the scope {scope!r}.",
        role=ROLES[scope].label,
        scope=scope.value,
    )


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Return a redirect to the sign-in page, which leads back to this address.

    A request for a fragment redirects the whole page: else htmx would swap the sign-in page into the fragment.
    """
    if "HX-Request" not in request.headers:
        return redirect_to_login(request.get_full_path())
    page = urlsplit(request.headers.get("HX-Current-URL", ""))
    return_url = page._replace(scheme="", netloc="", fragment="").geturl() if page.netloc == request.get_host() else "/"
    return HttpResponse(headers={"HX-Redirect": redirect_to_login(return_url)["Location"]})


class AddressMiddleware:
    """Tells the audit log from where a request comes."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        with acting_from(address_of(request)):
            return self.get_response(request)


def address_of(request: HttpRequest) -> str:
    """Return the address of the client, as the proxies say that TEITEN_PROXIES trusts."""
    return str(BaseThrottle().get_ident(request) or "")  # type: ignore[arg-type]


class ReadingMiddleware:
    """Says who reads, and closes every page to anonymous visitors where TEITEN_OPEN_READING is off."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        read_as(lambda: viewer_of(request))
        closed = not settings.TEITEN_OPEN_READING and not request.path.startswith((*OPEN_PATHS, "/api/"))
        if closed and not request.user.is_authenticated:
            return to_sign_in(request)
        return self.get_response(request)


def new_token(user: User, name: str, scope: Scope, days: int | None = None) -> tuple[ApiToken, str]:
    """Store a new token; return it and its secret, which can be shown only now.

    days: that it is valid; None: until it is revoked"""
    secret = f"teiten_{secrets.token_urlsafe(32)}"
    end = timezone.now() + timedelta(days=days) if days else None
    made = ApiToken.objects.create(user=user, name=name, scope=scope, digest=digest(secret), expires_at=end)
    return made, secret


@transaction.atomic
def create_token(user: User, name: str, scope: Scope, actor: str, days: int | None = None) -> tuple[ApiToken, str]:
    """Store a new token as `new_token` does, and file it in the audit log."""
    token, secret = new_token(user, name, scope, days)
    _file_in_audit_log(actor, "create token", token)
    return token, secret


@transaction.atomic
def revoke_token(token: ApiToken, actor: str) -> bool:
    """End a token at once and for good; return whether it was valid until now."""
    revoked = ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())
    if revoked:
        _file_in_audit_log(actor, "revoke token", token)
    return bool(revoked)


def _file_in_audit_log(actor: str, verb: str, token: ApiToken) -> None:
    detail = {"name": token.name, "scope": token.scope, "owner": token.user.get_username()}
    if token.expires_at:
        detail["expires"] = f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
    AuditEntry.objects.create(actor=actor, verb=verb, object=f"token {token.pk}", detail=detail)


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def has_token(request: HttpRequest | Request) -> bool:
    """Return whether a request carries a token, by which alone its right is judged then."""
    return _authorization(request)[:1] == ["bearer"]


def _authorization(request: HttpRequest | Request) -> list[str]:
    """Return the words of the header Authorization, the first in small letters."""
    scheme, *rest = str(request.META.get("HTTP_AUTHORIZATION", "")).split() or [""]
    return [scheme.lower(), *rest]


class TokenAuthentication(BaseAuthentication):
    """Authentication by the header `Authorization: Bearer teiten_…`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        if not has_token(request):
            return None
        parts = _authorization(request)
        if len(parts) != 2:
            raise AuthenticationFailed(gettext("The Authorization header is not 'Bearer <token>'."))
        token = ApiToken.objects.select_related("user__member").filter(digest=digest(parts[1]), revoked_at=None).first()
        if token is None or not token.user.is_active:
            raise AuthenticationFailed(gettext("The token is unknown or revoked. Make a new one on the account page."))
        now = timezone.now()
        if token.expires_at and token.expires_at <= now:
            text = gettext("The token expired on {time:%Y-%m-%d %H:%M} UTC. Make a new one on the account page.")
            raise AuthenticationFailed(text.format(time=token.expires_at))
        if token.last_used_at is None or (now - token.last_used_at).total_seconds() > 60:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class ScopePermission(BasePermission):
    """Permission by scope: GET needs the view's `read_scope` (default `read`), anything else its `write_scope` (default
    `run`)."""

    def has_permission(self, request: Request, view: Any) -> bool:
        reading = request.method in SAFE_METHODS
        needed = getattr(view, "read_scope", Scope.READ) if reading else getattr(view, "write_scope", Scope.RUN)
        self.message = localized(lacking(needed))
        viewer = viewer_of(request)  # a token says otherwise than the session
        read_as(lambda: viewer)
        token = getattr(request, "auth", None)
        if reading and isinstance(token, ApiToken) and token.scope == Scope.READ:
            read_with_token()
        return allows(_granted(request), needed)


def _granted(request: HttpRequest | Request) -> Scope | None:
    """Return the highest scope of who asks, by token or session."""
    token = getattr(request, "auth", None)
    return scope_of(request.user, token if isinstance(token, ApiToken) else None)


def viewer_of(request: HttpRequest | Request) -> Viewer:
    """Return who reads: an administrator sees the private runs of all, others their own."""
    user = person(request)
    return Viewer(user.pk if user else NOBODY, sees_all=may(request, Scope.ADMIN))


def may(request: HttpRequest | Request, scope: Scope) -> bool:
    """Return whether the visitor, by token or session, has this scope."""
    return allows(_granted(request), scope)


def scope_for(request: HttpRequest | Request, authors: Iterable[int | None], others: Scope) -> Scope:
    """Return the scope that changing what these users (ids) made needs: `run` for one's own, `others` for the rest."""
    return Scope.RUN if all(author == request.user.pk for author in authors) else others


def require_own(request: HttpRequest | Request, authors: Iterable[int | None], others: Scope, what: str) -> None:
    """Raise PermissionDenied for a visitor who may not change what these users (ids) made.

    what: 'A run is tagged', one of `_OWN`: who may do it is added"""
    if not may(request, scope_for(request, authors, others)):
        raise PermissionDenied(Message(_OWN[what].id, values={"role": ROLES[others].label}))


def authors_of(run_ids: Iterable[int]) -> list[int | None]:
    """Return the ids of the users who started these runs, None of those that nobody did."""
    return list(Run.objects.filter(pk__in=run_ids).order_by().values_list("created_by_id", flat=True).distinct())


def may_delete(request: HttpRequest | Request, authors: Iterable[int | None]) -> bool:
    """Return whether the visitor may delete runs of these users (ids): their own by the scope `run`, those of others by
    `admin`."""
    return may(request, scope_for(request, authors, Scope.ADMIN))


def require_deletion(request: HttpRequest | Request, authors: Iterable[int | None]) -> None:
    """Raise PermissionDenied for a visitor who may not delete runs of these users."""
    if not may_delete(request, authors):
        raise PermissionDenied(NO_DELETION)


def require_plan_deletion(request: HttpRequest | Request, authors: Iterable[int | None]) -> None:
    """Raise PermissionDenied for a visitor who may not delete plans of these users."""
    if not may_delete(request, authors):
        raise PermissionDenied(NO_PLAN_DELETION)


def is_admin(request: HttpRequest | Request) -> bool:
    return allows(_granted(request), Scope.ADMIN)


def refused_code(
    request: HttpRequest | Request, plan: Plan, kinds: Kinds, without_code: AgentNames = agents_without_code
) -> list[Problem]:
    """Return what of a plan's own code keeps the visitor from running it (`results.plan_code.refused_code`)."""
    return [] if is_admin(request) else plan_code.refused_code(plan, kinds, without_code)


def may_plan(
    request: HttpRequest | Request, plan: Plan, kinds: Kinds, without_code: AgentNames = agents_without_code
) -> bool:
    """Return whether the visitor may run this plan.

    without_code: `agents_without_code`, cached by a caller that asks of many plans
    """
    return allows(_granted(request), Scope.RUN) and not refused_code(request, plan, kinds, without_code)


def require_plan(request: HttpRequest | Request, plan: Plan, kinds: Kinds) -> Plan:
    """Return the plan if its code is no reason for the visitor not to run it. Raises CodeError."""
    if problems := refused_code(request, plan, kinds):
        raise CodeError(problems)
    return plan


def require_standing(request: HttpRequest | Request, plan: Plan) -> None:
    """Raise PermissionDenied for a plan whose runs count for something at once, from a visitor who may not say so. Runs
    of a plan that is stored already have its standing, whoever starts them."""
    if plan.standing != Standing.EXPLORATORY and not may(request, Scope.PUBLISH):
        raise PermissionDenied(Message(_STANDING[plan.standing].id, values={"lacking": lacking(Scope.PUBLISH)}))


def person(request: HttpRequest | Request) -> User | None:
    """Return the user who is signed in or owns the token, None for an anonymous visitor."""
    return request.user if isinstance(request.user, User) else None


def actor(request: HttpRequest | Request) -> str:
    """Return the visitor's name for the audit log."""
    token = getattr(request, "auth", None)
    name = request.user.get_username() or "anonymous"
    return f"token {token.name} ({name})" if isinstance(token, ApiToken) else name
