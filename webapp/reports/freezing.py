"""A document's parts as JSON and back: what is kept of a published report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from webapp.documents.page import drawn
from webapp.documents.parts import Part, Plate, Prose, Table
from webapp.drawing.picture import Picture


def frozen(parts: Sequence[Part]) -> str:
    """Return the parts, each figure drawn for good."""
    return json.dumps([_to_json(part) for part in parts], sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _to_json(part: Part) -> dict[str, Any]:
    if isinstance(part, Prose):
        return {"prose": part.markdown}
    if isinstance(part, Table):
        return {"table": vars(part)}
    picture = {name: value for name, value in vars(part.picture).items() if name != "facts"}
    return {"figure": {"name": part.name, "picture": picture, "svg": drawn(part, "svg").decode()}}


def thawed(content: str, facts: Mapping[str, Any]) -> list[Part]:
    """Return the parts as they were published."""
    return [_from_json(one, facts) for one in json.loads(content)]


def _from_json(one: Mapping[str, Any], facts: Mapping[str, Any]) -> Part:
    if "prose" in one:
        return Prose(one["prose"])
    if "table" in one:
        table = one["table"]
        rows = tuple(map(tuple, table["rows"]))
        return Table(table["caption"], tuple(table["heading"]), rows, tuple(table["numeric"]))
    figure = one["figure"]
    key = [(index, name) for index, name in figure["picture"]["key"]]
    picture = Picture(**{**figure["picture"], "key": key, "facts": facts})
    return Plate(figure["name"], picture, figure["svg"].encode())
