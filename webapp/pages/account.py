"""Sign-in, sign-out, and one's own API tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from django.views.i18n import set_language

from results import sign_ins
from results.models import ApiToken
from results.models.audit import Scope
from webapp.access import ORDER, actor, allows, create_token, person, revoke_token, role_of, scope_of
from webapp.forms.sign_in import SignInForm
from webapp.forms.token import TokenForm
from webapp.language import bring, choose
from webapp.problems import missing_is_404


class SignIn(LoginView):
    """Too many failures of an account or an address keep it waiting: 429 with Retry-After, and no password is looked
    at."""

    authentication_form = SignInForm
    template_name = "account/sign_in.html"

    @transaction.atomic
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        sign_ins.one_at_a_time()
        wait = sign_ins.wait_for(_name(request), timezone.now())
        if wait is None:
            return super().post(request, *args, **kwargs)
        context = {"form": SignInForm(request), "wait": wait, "next": self.get_redirect_url()}
        answer = render(request, self.template_name, context, status=429)
        answer["Retry-After"] = str(wait.seconds)
        return answer

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        sign_ins.note_sign_in(form.get_user())
        answer = super().form_valid(form)
        bring(answer, form.get_user())
        return answer

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        if name := form.cleaned_data.get("username"):
            sign_ins.note_failure(name)
        return super().form_invalid(form)


def _name(request: HttpRequest) -> str:
    """Return the name as the form reads it: without blanks around it, in one spelling of Unicode."""
    try:
        return str(SignInForm(request).fields["username"].clean(request.POST.get("username", "")))
    except ValidationError:
        return ""


sign_in = SignIn.as_view()
sign_out = LogoutView.as_view()


@require_POST
def language(request: HttpRequest) -> HttpResponseBase:
    """A choice of language, which leads back to where it was made."""
    answer = set_language(request)
    choice = answer.cookies.get(settings.LANGUAGE_COOKIE_NAME)
    choose(request, choice.value if choice else "")
    return answer


@require_http_methods(["GET", "POST"])
@never_cache
@login_required
def tokens(request: HttpRequest) -> HttpResponse:
    """The list; a POST makes a token and shows its secret, once."""
    granted = scope_of(request.user)
    scopes = [scope for scope in ORDER if allows(granted, scope)]
    form = TokenForm(request.POST or None, scopes=scopes)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        assert request.user.is_authenticated
        scope = Scope(form.cleaned_data["scope"])
        fields = form.cleaned_data
        token, secret = create_token(request.user, fields["name"], scope, actor(request), fields["days"])
        context = {"form": TokenForm(scopes=scopes), "secret": secret, "new": token}
    context["role"] = role_of(request.user) if isinstance(request.user, User) else ""
    context["now"] = timezone.now()
    context["tokens"] = ApiToken.objects.filter(user=person(request))
    return render(request, "account/tokens.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
@missing_is_404()
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    token = ApiToken.objects.get(pk=token_id, user=person(request))
    revoke_token(token, actor(request))
    done = gettext("Revoked {name!r}. Programs that use it get 401 from now on.").format(name=token.name)
    messages.success(request, done)
    return redirect("account:tokens")
