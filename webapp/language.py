"""In which language a visitor reads: of a link's ?lang=, of the page that a fragment is for, of the visitor's choice,
of the browser, of TEITEN_LANGUAGE; the first that says one. Addresses are the same in all languages.

A choice is kept by the browser. An account keeps the last one that was made while it was signed in, and gives it to a
browser when it signs in: no page asks the warehouse for it."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote_plus, urlsplit, urlunsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

from results.domain.messages import COMMA, ORIGINAL, localized
from results.models import Member

PARAMETER = "lang"
_FORCED = "teiten.language"  # key of a request's META
PAGE_HEADER = "Teiten-Language"  # of requests for parts of a page (templates/base.html): the page's language


class LanguageMiddleware(LocaleMiddleware):
    """Django's, which reads the cookie of a choice and Accept-Language, with links that force a language.

    The parameter is taken from the request: views never see it, and no address that they make has it.
    """

    def process_request(self, request: HttpRequest) -> None:
        language = _forced(request) or _of_page(request) or translation.get_language_from_request(request)
        translation.activate(language)
        request.LANGUAGE_CODE = translation.get_language()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if forced := request.META.get(_FORCED, ""):
            _lead_on(response, forced)
        if not request.path.startswith(settings.STATIC_URL):
            response.headers.setdefault("Content-Language", active_language())
            patch_vary_headers(response, ["Accept-Language", "Cookie", PAGE_HEADER])
        return response


def choose(request: HttpRequest, language: str) -> None:
    """Let a choice count from now on, whatever a link forced, and keep it for the account that is signed in."""
    request.META.pop(_FORCED, None)
    if language in dict(settings.LANGUAGES) and isinstance(request.user, User):
        Member.objects.update_or_create(user=request.user, defaults={"language": language})


def bring(response: HttpResponseBase, user: User) -> None:
    """Give the browser that an account signs in by the language that the account chose, where it chose one."""
    member: Member | None = getattr(user, "member", None)
    if member and member.language:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            member.language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite=settings.LANGUAGE_COOKIE_SAMESITE,
        )


def active_language() -> str:
    """Return the language of who reads now; outside of a request that of the command, or of the document."""
    return translation.get_language() or ORIGINAL


def in_english() -> bool:
    """Whether who reads now has the language that all texts are written in."""
    return active_language() == ORIGINAL


def joined(items: Iterable[str]) -> str:
    """Return the items with commas between them: 'a, b, c', 'a、b、c'."""
    return localized(COMMA).join(items)


def within_a_line(label: str) -> str:
    """Return a label as it stands within other words: in English without its capital, unless it begins a name as in
    'WAL written'."""
    if not in_english() or not label[1:2].islower():
        return localized(label)
    return label[0].lower() + label[1:]


def _forced(request: HttpRequest) -> str:
    """Return the language that the address forces, '' for none, and take the parameter out of the request.

    A form or a part of a page has that of the page's address, which browsers send along."""
    own, language = _parted(request.META.get("QUERY_STRING", ""))
    request.META["QUERY_STRING"] = own
    if not language and (request.method == "POST" or "HX-Request" in request.headers):
        _, language = _parted(request.headers.get("Referer", "").partition("?")[2])
    if language:
        request.META[_FORCED] = language
    return language


def _parted(query: str) -> tuple[str, str]:
    """Return a query without its language, and the language, '' for none.

    The rest stays as it was written: where a comma is escaped in it, it is part of a value."""
    parts = query.split("&")
    forced = [part for part in parts if unquote_plus(part.partition("=")[0]) == PARAMETER]
    rest = "&".join(part for part in parts if part not in forced)
    try:
        return rest, translation.get_supported_language_variant(unquote_plus(forced[-1].partition("=")[2]))
    except LookupError:  # of no parameter, or of a language that there is not
        return rest, ""


def _of_page(request: HttpRequest) -> str:
    """Return the language of the page that a fragment is for, '' for a page or an answer of the API."""
    language = request.headers.get(PAGE_HEADER, "")
    return language if language in dict(settings.LANGUAGES) else ""


def _lead_on(response: HttpResponseBase, language: str) -> None:
    """Force the language on the page that the answer leads to."""
    for header in ("Location", "HX-Redirect"):
        if response.get(header, "").startswith("/"):
            parts = urlsplit(response[header])
            query = "&".join(filter(None, (_parted(parts.query)[0], f"{PARAMETER}={language}")))
            response[header] = urlunsplit(parts._replace(query=query))
