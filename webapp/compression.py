"""Answers are sent packed to who takes them so."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PACKED = ("application/gzip", "application/octet-stream")


class CompressionMiddleware(GZipMiddleware):
    """Django's: it makes a strong ETag weak, and adds some random bytes, so that the length of a page tells nothing of
    the CSRF token in it (BREACH). Archives stay as they are, with the length that a download needs to know; static
    files are WhiteNoise's, packed once when they are collected."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or response.get("Content-Type", "").startswith(PACKED):
            return response
        packed: HttpResponseBase = super().process_response(request, response)
        return packed
