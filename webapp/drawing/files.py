"""Pictures as files."""

from __future__ import annotations

import io
import json
import threading
from typing import Any

from results.domain.errors import TeitenError
from results.domain.messages import COMMA, linked
from results.domain.messages import gettext_lazy as _
from webapp.drawing import style
from webapp.drawing.picture import Picture
from webapp.drawing.style import PX_PER_INCH, Shape

TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
_PNG_DPI = 192
_HIGHEST = 6000  # px
_DRAWING = threading.Lock()  # matplotlib's type faces are those of the process


def draw(picture: Picture, form: str = "svg", shape: Shape = style.SHAPES["page"]) -> bytes:
    """Return the picture as a file. Raises TeitenError for a form that there is not.

    form: svg, png or pdf"""
    if form not in TYPES:
        raise TeitenError(
            _("There is no figure as {form!r}.", form=form),
            where="form",
            todo=_("There are {names}.", names=linked(COMMA, TYPES)),
        )
    if (height := picture.figure["layout"]["height"]) > _HIGHEST:
        raise TeitenError(
            _("The figure is {height:,} px high.", height=height),
            where="figure",
            why=_("Figures of up to {most:,} px are drawn as files.", most=_HIGHEST),
            todo=_("Filter the comparison, so that it has fewer rows."),
        )
    from matplotlib import rc_context  # which most processes never need

    from webapp.drawing.sheet import Sheet

    style.prepare()
    file = io.BytesIO()
    resolution = _PNG_DPI if form == "png" else PX_PER_INCH
    with _DRAWING, rc_context({"font.family": style.faces(form)}):
        canvas = Sheet(picture, shape).made()
        canvas.savefig(file, format=form, dpi=resolution, metadata=_metadata(picture, form))
    return file.getvalue()


def _metadata(picture: Picture, form: str) -> dict[str, Any]:
    facts = json.dumps(picture.facts, ensure_ascii=True, separators=(",", ":"))
    if form == "pdf":
        return {"Title": picture.title, "Subject": picture.source, "Keywords": facts, "CreationDate": None}
    named = {"Title": picture.title, "Description": facts, "Source": picture.source}
    return named | {"Date": None} if form == "svg" else named
