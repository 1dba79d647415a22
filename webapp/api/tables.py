"""Rows as a stream: NDJSON, CSV or Parquet, a batch after the other, whatever their number."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from results.domain.errors import TeitenError
from results.domain.pieces import Pieces
from webapp.api.common import Endpoint, OrjsonRenderer
from webapp.api.streams import Stream
from webapp.spreadsheets import shown_as_text

Batch = Sequence[tuple[Any, ...]]


class Kind(StrEnum):
    """Of the values of a column. JSON: text that is JSON. NUMBERS and IDS: lists."""

    WHOLE = "whole"
    NUMBER = "number"
    TEXT = "text"
    TIME = "time"
    JSON = "json"
    NUMBERS = "numbers"
    IDS = "ids"


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind


class Ndjson(JSONRenderer):
    """A JSON object a line."""

    media_type = "application/x-ndjson"
    format = "ndjson"


class Csv(JSONRenderer):
    """A line of names, and a line a row."""

    media_type = "text/csv"
    format = "csv"


class Parquet(JSONRenderer):
    """Apache Parquet, with typed columns."""

    media_type = "application/vnd.apache.parquet"
    format = "parquet"


class Tabular(Endpoint):
    """Base of lists that can be had as a stream of rows too, all of them and not in pages."""

    renderer_classes = [OrjsonRenderer, Ndjson, Csv, Parquet]
    other_parameters = ("format",)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer an error in JSON, whatever form the answer would have had."""
        response: Response = super().handle_exception(exc)
        if getattr(self.request, "accepted_renderer", None) and streamed(self.request):
            self.request.accepted_renderer = JSONRenderer()
            self.request.accepted_media_type = JSONRenderer.media_type
        return response


def table_responses(serializer: type[Serializer[Any]]) -> dict[Any, Any]:
    """Return what the answers are in the schema: pages of rows, or a stream."""
    return {
        (200, JSONRenderer.media_type): serializer(many=True),
        (200, Ndjson.media_type): OpenApiTypes.STR,
        (200, Csv.media_type): OpenApiTypes.STR,
        (200, Parquet.media_type): OpenApiTypes.BINARY,
    }


def streamed(request: Request) -> bool:
    """Return whether the answer is a stream of rows, and not a page."""
    return request.accepted_renderer.format in _WRITERS


def stream(request: Request, name: str, columns: Sequence[Column], batches: Iterator[Batch]) -> HttpResponseBase:
    """Return the rows in the form that is asked for. What is wrong with the question is known before the first byte
    is sent; a stream that fails later ends without its proper end, which clients report.

    name: of the file, without its ending."""
    _require_whole(request)
    format_ = request.accepted_renderer.format
    headers = {"Content-Disposition": f'attachment; filename="{name}.{format_}"', "Vary": "Accept"}
    content_type = request.accepted_renderer.media_type + ("; charset=utf-8" if format_ == "csv" else "")
    if request.method == "HEAD":
        return HttpResponse(content_type=content_type, headers=headers)
    rows = Stream(request, _WRITERS[format_](columns, batches))
    rows.begin()
    return StreamingHttpResponse(rows, content_type=content_type, headers=headers)


def _require_whole(request: Request) -> None:
    """Raise TeitenError for a stream of which a page is asked for."""
    for name in ("page_size", "cursor"):
        if name in request.query_params:
            what = f"A stream has all rows, and no {name}."
            raise TeitenError(what, where=name, todo="Leave it out, or ask for pages with format=json.")


def _ndjson(columns: Sequence[Column], batches: Iterable[Batch]) -> Generator[bytes]:
    names = [column.name for column in columns]
    fragments = [index for index, column in enumerate(columns) if column.kind is Kind.JSON]
    options = orjson.OPT_UTC_Z | orjson.OPT_APPEND_NEWLINE
    for batch in batches:
        lines = []
        for row in batch:
            values = dict(zip(names, row, strict=True))
            for index in fragments:
                values[names[index]] = orjson.Fragment(row[index])
            lines.append(orjson.dumps(values, option=options))
        yield b"".join(lines)


def _csv(columns: Sequence[Column], batches: Iterable[Batch]) -> Generator[bytes]:
    """Give numbers in full precision, times as ISO 8601, lists with a space between their items.

    No text is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    written = [_TEXTS.get(column.kind) for column in columns]
    converted = [(index, convert) for index, convert in enumerate(written) if convert]
    for batch in batches:
        for row in batch:
            values = list(row)
            for index, convert in converted:
                if values[index] is not None:
                    values[index] = convert(values[index])
            writer.writerow(values)
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    if text.tell():
        yield text.getvalue().encode()


_TEXTS: Mapping[Kind, Callable[[Any], str]] = {
    Kind.TEXT: shown_as_text,
    Kind.TIME: lambda value: value.isoformat().replace("+00:00", "Z"),
    Kind.NUMBERS: lambda value: " ".join(map(repr, value)),
    Kind.IDS: lambda value: " ".join(map(str, value)),
}


def _parquet(columns: Sequence[Column], batches: Iterable[Batch]) -> Generator[bytes]:
    """Give a row group a batch."""
    import pyarrow as arrow  # tens of MB of memory, only where it is asked for
    from pyarrow import parquet

    kinds = {
        Kind.WHOLE: arrow.int64(),
        Kind.NUMBER: arrow.float64(),
        Kind.TEXT: arrow.string(),
        Kind.TIME: arrow.timestamp("us", tz="UTC"),
        Kind.JSON: arrow.string(),
        Kind.NUMBERS: arrow.list_(arrow.float64()),
        Kind.IDS: arrow.list_(arrow.int64()),
    }
    schema = arrow.schema([(column.name, kinds[column.kind]) for column in columns])
    pieces = Pieces()
    with parquet.ParquetWriter(pieces, schema, compression="zstd") as writer:
        for batch in batches:
            values = [arrow.array(own, field.type) for own, field in zip(zip(*batch, strict=True), schema, strict=True)]
            writer.write_batch(arrow.record_batch(values, schema=schema))
            yield pieces.take()
    yield pieces.take()


_WRITERS: Mapping[str, Callable[[Sequence[Column], Iterable[Batch]], Generator[bytes]]] = {
    Ndjson.format: _ndjson,
    Csv.format: _csv,
    Parquet.format: _parquet,
}
