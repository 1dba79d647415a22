"""Pictures as files."""

from __future__ import annotations

import io
import json
from typing import Any

from results.domain.errors import TeitenError
from webapp.drawing import style
from webapp.drawing.picture import Picture
from webapp.drawing.style import PX_PER_INCH, Shape

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_PNG_DPI = 192
_HIGHEST = 6000  # px


def draw(picture: Picture, form: str = "svg", shape: Shape = style.SHAPES["page"]) -> bytes:
    """Return the picture as a file. Raises TeitenError for a form that there is not.

    form: svg, png or pdf"""
    if form not in TYPES:
        raise TeitenError(f"There is no figure as {form!r}.", where="form", todo=f"There are {', '.join(TYPES)}.")
    if (height := picture.figure["layout"]["height"]) > _HIGHEST:
        raise TeitenError(
            f"The figure is {height:,} px high.",
            where="figure",
            why=f"Figures of up to {_HIGHEST:,} px are drawn as files.",
            todo="Filter the comparison, so that it has fewer rows.",
        )
    from webapp.drawing.sheet import Sheet  # matplotlib, which most processes never need

    style.prepare()
    canvas = Sheet(picture, shape).made()
    file = io.BytesIO()
    canvas.savefig(file, format=form, dpi=_PNG_DPI if form == "png" else PX_PER_INCH, metadata=_metadata(picture, form))
    return file.getvalue()


def _metadata(picture: Picture, form: str) -> dict[str, Any]:
    facts = json.dumps(picture.facts, ensure_ascii=True, separators=(",", ":"))
    if form == "pdf":
        return {"Title": picture.title, "Subject": picture.source, "Keywords": facts, "CreationDate": None}
    named = {"Title": picture.title, "Description": facts, "Source": picture.source}
    return named | {"Date": None} if form == "svg" else named
