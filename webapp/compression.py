"""Compression of responses."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

COMPRESSED_TYPES = ("application/gzip", "application/octet-stream")
STREAMED_TYPES = ("application/x-ndjson", "text/csv")  # rows, compressed as they come


class CompressionMiddleware(GZipMiddleware):
    """Compresses what is not compressed yet.

    Django's middleware makes a strong ETag weak, and adds random bytes, so that the length of a page reveals nothing of
    its CSRF token (BREACH). Archives are sent as they are, with the length that a download shows its progress by;
    WhiteNoise compresses static files once, when they are collected. A stream of rows is compressed piece by piece: no
    part of it waits in memory for the rest. Parquet is compressed in itself.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        content_type = response.get("Content-Type", "")
        wanted = content_type.startswith(STREAMED_TYPES) if response.streaming else True
        if not wanted or content_type.startswith(COMPRESSED_TYPES):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
