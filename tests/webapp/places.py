"""Places of texts in requests: names of queries and fields of bodies as the OpenAPI description has them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

Place = tuple[Any, ...]  # keys and indexes that lead to a value; the last one is a Name where it stands for the key


class Name(str):
    """A key whose own text is the place."""


@cache
def _described() -> dict[str, Any]:
    described: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    return described


def _operation(method: str, path: str) -> dict[str, Any]:
    """The operation at an address; those whose path has no parameter there first."""
    for route, methods in sorted(_described()["paths"].items(), key=lambda one: one[0].count("{")):
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(route).replace(re.escape("{path}"), ".+"))
        if re.fullmatch(pattern, path) and method in methods:
            found: dict[str, Any] = methods[method]
            return found
    return {}


def query_parameters(path: str) -> set[str]:
    """Names that GET at this address knows."""
    return {one["name"] for one in _operation("get", path).get("parameters", ()) if one["in"] == "query"}


def body_fields(method: str, path: str) -> dict[str, str]:
    """Each field of a body that takes a text, with a text."""
    content = _operation(method, path).get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = _described()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    properties = schema.get("properties", {})
    return {name: "x" for name, one in properties.items() if one.get("type") == "string" and name != "toml"}


def places_in(value: Any, before: Place = ()) -> Iterator[Place]:
    """Every text of a document, and every key."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*before, Name(name))
            yield from places_in(inner, (*before, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places_in(inner, (*before, index))
    else:
        yield before


def with_text(document: Any, place: Place, text: str) -> Any:
    """Return the document with a text at a place; the text itself where the place is the whole."""
    if not place:
        return text
    changed = copy.deepcopy(document)
    inner = changed
    for step in place[:-1]:
        inner = inner[step]
    last = place[-1]
    if isinstance(last, Name):
        inner[text] = inner.pop(last)
    else:
        inner[last] = text
    return changed


def multipart(fields: dict[str, str], name: str, file_name: str, content: str) -> tuple[bytes, str]:
    """Return the body of a form with a file, and its content type. Nothing is changed in the file's name, as browsers
    and Django's client would."""
    parts = [f'Content-Disposition: form-data; name="{field}"\r\n\r\n{value}' for field, value in fields.items()]
    file = f'Content-Disposition: form-data; name="{name}"; filename="{file_name}"\r\nContent-Type: text/plain'
    body = "".join(f"--limit\r\n{part}\r\n" for part in (*parts, f"{file}\r\n\r\n{content}"))
    return f"{body}--limit--\r\n".encode(errors="replace"), "multipart/form-data; boundary=limit"
