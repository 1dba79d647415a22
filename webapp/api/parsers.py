"""Bodies of requests → values."""

from __future__ import annotations

from typing import Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from results.domain.document_limits import excess


class StrictJSONParser(JSONParser):
    """JSON as its standard has it: without NaN, Infinity, numbers beyond a double, and halves of surrogate pairs; and
    within the limits of `document_limits`. `webapp.bodies` has bounded its length before."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        try:
            document = orjson.loads(stream.read())
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}.") from error
        if why := excess(document):
            raise ParseError(f"{why}.")
        return document
