"""In which language a visitor reads: of a link's ?lang=, of the page that a fragment is for, of the visitor's choice,
of the browser, of TEITEN_LANGUAGE; the first that says one. Addresses are the same in all languages."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote_plus, urlsplit, urlunsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.cache import patch_vary_headers

from results.domain.messages import COMMA, localized

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
        forced = request.META.get(_FORCED, "")
        if forced and response.get("Location", "").startswith("/"):
            response["Location"] = _with_language(response["Location"], forced)
        if not request.path.startswith(settings.STATIC_URL):
            response.headers.setdefault("Content-Language", translation.get_language() or "")
            patch_vary_headers(response, ["Accept-Language", "Cookie", PAGE_HEADER])
        return response


def joined(items: Iterable[str]) -> str:
    """Return the items with commas between them: 'a, b, c', 'a、b、c'."""
    return localized(COMMA).join(items)


def _forced(request: HttpRequest) -> str:
    """Return the language that the address forces, '' for none, and take the parameter out of the request.

    The rest of the address stays as it was written: where a comma is escaped in it, it is part of a value."""
    parts = request.META.get("QUERY_STRING", "").split("&")
    forced = [part for part in parts if unquote_plus(part.partition("=")[0]) == PARAMETER]
    if not forced:
        return ""
    request.META["QUERY_STRING"] = "&".join(part for part in parts if part not in forced)
    try:
        language = translation.get_supported_language_variant(unquote_plus(forced[-1].partition("=")[2]))
    except LookupError:
        return ""
    request.META[_FORCED] = language
    return language


def _of_page(request: HttpRequest) -> str:
    """Return the language of the page that a fragment is for, '' for a page or an answer of the API."""
    language = request.headers.get(PAGE_HEADER, "")
    return language if language in dict(settings.LANGUAGES) else ""


def _with_language(address: str, language: str) -> str:
    parts = urlsplit(address)
    query = "&".join(filter(None, (parts.query, f"{PARAMETER}={language}")))
    return urlunsplit(parts._replace(query=query))
